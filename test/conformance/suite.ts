import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../interop/command.ts';
import type { SuiteResult } from './judge.ts';

/** Where the suite is and what runs it. */
export interface Suite {
  readonly checkout: string;
  readonly python: string;
}

export interface SuiteTarget {
  /** Where the agent card is. */
  readonly origin: string;
  readonly transport: string;
  /** Put on every call. */
  readonly token?: string;
  /** Activated by every call but those that are about leaving it out. */
  readonly extension?: string;
  /** A test that takes longer fails. */
  readonly testLimitSeconds?: number;
}

const PLUGIN = fileURLToPath(new URL('../../../test/conformance/', import.meta.url));
const TEST_LIMIT_SECONDS = 60;
const RUN_LIMIT_MS = 1_200_000;
/** Of pytest: every test passed, some failed, none was collected. Any other end means that the run broke off. */
const ENDS = [0, 1, 5];

/** Runs the suite over one binding. Throws when it did not come to its end. */
export async function runSuite({ checkout, python }: Suite, target: SuiteTarget): Promise<readonly SuiteResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'connector-suite-'));
  const results = join(directory, 'results');
  // Else the suite's own settings are read, which ask for plug-ins that it does not need.
  const settings = join(directory, 'pytest.ini');
  writeFileSync(settings, '[pytest]\n');
  writeFileSync(results, '');
  try {
    const options = ['-p', 'plugin', '-p', 'no:cacheprovider', '-p', 'no:warnings', '--tb=no', '-q'];
    const about = [`--sut-host=${target.origin}`, `--transport=${target.transport}`, '--webhook-host=127.0.0.1'];
    const command = [python, '-m', 'pytest', 'tests/compatibility', '-c', settings, '--rootdir', checkout];
    const end = await runCommand([...command, ...options, ...about], {
      cwd: checkout,
      limitMs: RUN_LIMIT_MS,
      env: {
        CONFORMANCE_RUN: JSON.stringify({
          binding: target.transport,
          token: target.token ?? null,
          extension: target.extension ?? null,
          origin: target.origin,
          limitSeconds: target.testLimitSeconds ?? TEST_LIMIT_SECONDS,
          results,
        }),
        PYTHONPATH: [PLUGIN, checkout].join(delimiter),
        PYTHONDONTWRITEBYTECODE: '1',
        PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1',
        PYTEST_ADDOPTS: '',
        // The calls, and the token on them, go straight to the service.
        NO_PROXY: '*',
        no_proxy: '*',
      },
    });
    if (end.code === undefined || !ENDS.includes(end.code)) {
      throw new Error(`the suite did not come to its end (${end.code}):\n${end.stdout.slice(-4_000)}\n${end.stderr}`);
    }
    const lines = readFileSync(results, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as SuiteResult);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
