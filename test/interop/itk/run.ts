import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand } from '../command.ts';
import { pythonWith } from '../installation.ts';

/*
 * npm run test:itk -- --itk <checkout of a2aproject/a2a-itk> [--with python_v10,go_v10,ts_v10] [--protocols jsonrpc]
 *
 * The interop kit without its container: instructions travel round a ring of agents, ours among the kit's own ones of
 * other SDKs, each calling the next by its agent card. Works on a copy of the checkout. The kit starts Python agents
 * with uv and unreleased sources; here `uv run` is the interpreter of an environment with the released packages.
 */

const BEHAVIORS = [
  { behavior: 'send_message', streaming: false },
  { behavior: 'send_message', streaming: true },
  { behavior: 'resubscribe', streaming: true },
] as const;
const PLAY_MS = 900_000;

interface Case {
  readonly name: string;
  /** The kit itself calls the first one, at a path that is fixed; ours has its own, so it comes later. */
  readonly sdks: readonly string[];
  readonly protocols: readonly string[];
  readonly behavior: string;
  readonly streaming: boolean;
}

function casesFor(peers: readonly string[], protocols: readonly string[]): readonly Case[] {
  const rings = [...peers.map((peer) => [peer, 'current']), ...(peers.length > 1 ? [[...peers, 'current']] : [])];
  return rings.flatMap((sdks) =>
    protocols.flatMap((protocol) =>
      BEHAVIORS.map(({ behavior, streaming }) => ({
        name: [sdks.join(' + '), protocol, behavior, ...(streaming ? ['streaming'] : [])].join(', '),
        sdks,
        protocols: [protocol],
        behavior,
        streaming,
      })),
    ),
  );
}

function layOut(checkout: string): string {
  const kit = mkdtempSync(join(tmpdir(), 'connector-itk-'));
  cpSync(checkout, kit, { recursive: true, filter: (path) => !path.endsWith('.git') });
  const current = fileURLToPath(new URL('./current.js', import.meta.url));
  const scripts = { 'itk-agent': `"${process.execPath}" "${current}"` };
  mkdirSync(join(kit, 'agents', 'repo', 'itk'), { recursive: true });
  writeFileSync(join(kit, 'agents', 'repo', 'package.json'), JSON.stringify({ private: true, scripts }));
  mkdirSync(join(kit, 'bin'));
  return kit;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      itk: { type: 'string' },
      with: { type: 'string', default: 'python_v10,go_v10' },
      protocols: { type: 'string', default: 'jsonrpc' },
    },
  });
  if (values.itk === undefined) throw new Error('--itk names a checkout of a2aproject/a2a-itk');
  const checkout = resolve(values.itk);
  const python = await pythonWith('itk', 'itk/requirements.txt');
  if ('unavailable' in python) {
    console.log(`skipped: ${python.unavailable}`);
    return 0;
  }
  const revision = await runCommand(['git', '-C', checkout, 'rev-parse', 'HEAD'], { limitMs: 10_000 });
  console.log(`interop kit, revision ${revision.code === 0 ? revision.stdout.trim() : 'unknown'}`);
  const kit = layOut(checkout);
  try {
    const [interpreter] = python.command;
    writeFileSync(join(kit, 'bin', 'uv'), `#!/bin/sh\nshift\nexec "${interpreter}" "$@"\n`, { mode: 0o755 });
    symlinkSync(interpreter ?? '', join(kit, 'bin', 'python'));
    const cases = casesFor(values.with.split(','), values.protocols.split(','));
    const drive = fileURLToPath(new URL('../../../../test/interop/itk/drive.py', import.meta.url));
    const result = await runCommand([...python.command, '-B', drive, JSON.stringify(cases)], {
      cwd: kit,
      env: { PATH: [join(kit, 'bin'), process.env.PATH].join(delimiter) },
      limitMs: PLAY_MS,
    });
    const seen = result.stdout
      .split('\n')
      .filter((line) => line.startsWith('{"name"'))
      .map((line) => JSON.parse(line) as { name: string; passed: boolean; detail: string });
    for (const { name, passed, detail } of seen) console.log(`${passed ? 'passed' : 'FAILED'}: ${name} ${detail}`);
    const passed = seen.filter((each) => each.passed).length;
    console.log(`${passed} passed, ${cases.length - passed} failed`);
    if (passed < cases.length) console.error(result.stderr.slice(-6_000));
    return passed === cases.length ? 0 : 1;
  } finally {
    rmSync(kit, { recursive: true, force: true });
  }
}

process.exit(await main());
