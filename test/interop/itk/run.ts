import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ResultRow, recordResults } from '../../conformance/results-page.ts';
import { tested } from '../../conformance/tested.ts';
import { runCommand } from '../command.ts';
import { CACHE, complete, draftOf } from '../installation.ts';
import { type Case, casesFor, knownFault } from './cases.ts';
import { interpreterFor, PEERS, type Peer } from './peers.ts';

/*
 * npm run test:itk -- --itk <checkout of a2aproject/a2a-itk> [--with <agent,…>] [--bindings <jsonrpc,http_json,grpc>]
 *                     [--record]
 *
 * The interop kit without its container: instructions travel round rings of agents, ours among the kit's own ones of
 * other SDKs, each calling the next by its agent card. Works on a copy of the checkout. The kit starts Python agents
 * with uv and unreleased sources; here `uv run` is the interpreter of an environment with the released packages.
 * Agents of 0.3 look for a card of 0.3 and cannot be told to ask for it, so they meet a service that speaks nothing else.
 */

const SOURCE = 'https://github.com/a2aproject/a2a-itk';
const PLAY_MS = 900_000;
const UNKNOWN = 'unknown';
const TITLES: Readonly<Record<string, string>> = { jsonrpc: 'JSON-RPC', http_json: 'HTTP+JSON', grpc: 'gRPC' };

interface Seen {
  readonly name: string;
  readonly passed: boolean;
  readonly detail: string;
}

type Outcome = 'passed' | 'skipped' | 'FAILED';

interface Judged {
  readonly case: Case;
  readonly outcome: Outcome;
}

/** One line for each case, and what its place in the sum is. */
function judge(each: Case, seen: Seen | undefined): Judged {
  const { passed, detail } = seen ?? { passed: false, detail: 'it was not played' };
  const known = knownFault(each);
  const outcome = known === undefined ? (passed ? 'passed' : 'FAILED') : passed ? 'FAILED' : 'skipped';
  const why = known === undefined ? detail : passed ? 'it passes: take it off the list of known faults' : known;
  console.log(`${outcome}: ${each.name}${why === '' ? '' : `: ${why}`}`);
  return { case: each, outcome };
}

/** One copy for each revision, so that what was built in it is there the next time. */
function layOut(checkout: string, revision: string): string {
  const kit = join(CACHE, `kit-${revision.slice(0, 12)}`);
  if (revision === UNKNOWN) rmSync(kit, { recursive: true, force: true });
  if (!existsSync(kit)) {
    const draft = draftOf(kit);
    cpSync(checkout, draft, { recursive: true, filter: (path) => !path.endsWith('.git') });
    complete(draft, kit);
  }
  const current = fileURLToPath(new URL('./current.js', import.meta.url));
  const scripts = { 'itk-agent': `"${process.execPath}" "${current}"` };
  mkdirSync(join(kit, 'agents', 'repo', 'itk'), { recursive: true });
  writeFileSync(join(kit, 'agents', 'repo', 'package.json'), JSON.stringify({ private: true, scripts }));
  mkdirSync(join(kit, 'bin'), { recursive: true });
  return kit;
}

/** Those that can be had; says why not of the others. */
async function readyOnes(kit: string, asked: readonly string[]): Promise<readonly Peer[]> {
  const ready: Peer[] = [];
  for (const peer of PEERS.filter(({ name }) => asked.length === 0 || asked.includes(name))) {
    const missing = await peer.prepare(kit);
    if (missing === undefined) ready.push(peer);
    else console.log(`skipped: ${peer.name}, ${missing}`);
  }
  return ready;
}

async function play(kit: string, protocol: Peer['protocol'], cases: readonly Case[]): Promise<readonly Judged[]> {
  if (cases.length === 0) return [];
  const directory = mkdtempSync(join(tmpdir(), 'connector-itk-'));
  try {
    const results = join(directory, 'results');
    const interpreter = await interpreterFor('1.0');
    if (typeof interpreter !== 'string') throw new Error(interpreter.unavailable);
    const drive = fileURLToPath(new URL('../../../../test/interop/itk/drive.py', import.meta.url));
    const { stderr } = await runCommand([interpreter, '-B', drive, JSON.stringify(cases), results], {
      cwd: kit,
      env: {
        PATH: [join(kit, 'bin'), process.env.PATH].join(delimiter),
        CURRENT_VERSIONS: protocol === '0.3' ? '0.3' : '1.0,0.3',
      },
      limitMs: PLAY_MS,
    });
    const lines = existsSync(results) ? readFileSync(results, 'utf8').trim().split('\n') : [];
    const seen = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Seen);
    const byName = new Map(seen.map((each) => [each.name, each]));
    const judged = cases.map((each) => judge(each, byName.get(each.name)));
    if (judged.some(({ outcome }) => outcome === 'FAILED')) console.error(stderr.slice(-4_000));
    return judged;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      itk: { type: 'string' },
      with: { type: 'string', default: '' },
      bindings: { type: 'string', default: 'jsonrpc,http_json,grpc' },
      record: { type: 'boolean', default: false },
    },
  });
  const checkout = resolve(values.itk ?? '');
  if (values.itk === undefined || !existsSync(checkout)) {
    const what = values.itk === undefined ? '--itk <checkout> is missing' : `there is no ${checkout}`;
    console.error(`test:itk: ${what}. Get one: git clone ${SOURCE}; then npm run test:itk -- --itk a2a-itk`);
    return 2;
  }
  const asked = await runCommand(['git', '-C', checkout, 'rev-parse', 'HEAD'], { limitMs: 10_000 });
  const revision = asked.code === 0 ? asked.stdout.trim() : UNKNOWN;
  console.log(`interop kit, revision ${revision}`);
  const kit = layOut(checkout, revision);
  const [current, legacy] = [await interpreterFor('1.0'), await interpreterFor('0.3')];
  if (typeof current !== 'string') {
    console.log(`skipped: ${current.unavailable}`);
    return 0;
  }
  const byFolder = `case "$PWD" in */v03) exec "${legacy}" "$@";; *) exec "${current}" "$@";; esac`;
  writeFileSync(join(kit, 'bin', 'uv'), `#!/bin/sh\nshift\n${byFolder}\n`, { mode: 0o755 });
  writeFileSync(join(kit, 'bin', 'python'), `#!/bin/sh\nexec "${current}" "$@"\n`, { mode: 0o755 });

  const peers = await readyOnes(
    kit,
    values.with.split(',').filter((name) => name !== ''),
  );
  const judged: Judged[] = [];
  const rows: ResultRow[] = [];
  for (const protocol of ['1.0', '0.3'] as const) {
    const those = peers.filter((peer) => peer.protocol === protocol);
    const played = await play(kit, protocol, casesFor(those, values.bindings.split(',')));
    judged.push(...played);
    const agents = those.map(({ name }) => name).join(', ');
    for (const binding of new Set(played.map((each) => each.case.protocols.join()))) {
      const sums = sumsOf(played.filter((each) => each.case.protocols.includes(binding)));
      const { date, node, sdk } = tested();
      rows.push([revision.slice(0, 7), date, node, sdk, agents, protocol, TITLES[binding] ?? binding, ...sums]);
    }
  }
  const [passed, failed, skipped] = sumsOf(judged);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  if (values.record && failed === 0 && revision !== UNKNOWN) recordResults('interop kit results', rows);
  return failed === 0 ? 0 : 1;
}

function sumsOf(judged: readonly Judged[]): readonly [passed: number, failed: number, skipped: number] {
  const count = (wanted: Outcome): number => judged.filter(({ outcome }) => outcome === wanted).length;
  return [count('passed'), count('FAILED'), count('skipped')];
}

process.exit(await main());
