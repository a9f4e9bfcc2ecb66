import { parseArgs } from 'node:util';
import { startConformanceService } from './conformance-service.ts';
import { judge, type Verdict } from './judge.ts';
import { KNOWN_FAILURES } from './known-failures.ts';
import { CannotRun, findSuite, revisionOf } from './prerequisites.ts';
import { failureRows, printable, resultRow } from './result-rows.ts';
import { recordResults } from './results-page.ts';
import * as plan from './set-ups.ts';
import { runSuite, type Suite } from './suite.ts';
import { tested } from './tested.ts';

/*
 * npm run test:tck -- --tck <checkout> [--python <interpreter>] [--record]
 *                     [--binding <name,…>] [--set-up <name,…>] [--callers <name,…>]
 * The official suite against the shipped service. Ends with 0 when everything is as it has to be, with 1 when not, and
 * with 2 when the suite could not be run. --record writes the results of a complete run into docs/conformance.md.
 */

interface Judged {
  readonly run: plan.Run;
  readonly verdict: Verdict;
}

const OPTIONS = {
  tck: { type: 'string' },
  python: { type: 'string' },
  binding: { type: 'string' },
  'set-up': { type: 'string' },
  callers: { type: 'string' },
  record: { type: 'boolean', default: false },
} as const;

/** The names of the table that were asked for; all, when none was. */
function chosen<Name extends string>(
  table: Readonly<Record<Name, unknown>>,
  asked: string | undefined,
): readonly Name[] {
  const names = Object.keys(table) as Name[];
  const wanted = asked?.split(',').map((name) => name.trim());
  const unknown = wanted?.find((name) => !names.some((each) => each === name));
  if (unknown !== undefined) throw new CannotRun(`${unknown} is none of ${names.join(', ')}`);
  return names.filter((name) => wanted?.includes(name) ?? true);
}

/** One service for the bindings of a set-up, which the suite tries at the same time. */
async function tryService(suite: Suite, revision: string | undefined, runs: readonly plan.Run[]): Promise<Judged[]> {
  const [first] = runs;
  if (first === undefined) return [];
  const offer = plan.offerOf(first);
  const service = await startConformanceService({ ...first, bindings: runs.map(({ binding }) => binding) });
  const { origin, token } = service;
  const extension = offer.requiredExtension ? { extension: plan.REQUIRED_EXTENSION } : {};
  try {
    const judged = await Promise.all(
      runs.map(async (run): Promise<Judged> => {
        const { transport, tests } = plan.BINDINGS[run.binding];
        const target = { origin, transport, ...(token === undefined ? {} : { token }), ...extension };
        const results = await runSuite(suite, target);
        // A folder that git knows nothing of is taken for it.
        const pinned = revision === undefined || revision === plan.SUITE_REVISION;
        return { run, verdict: judge(results, { run, offer, known: KNOWN_FAILURES, ...(pinned && { tests }) }) };
      }),
    );
    const errors = service.errors().map((line) => `the service logged an error: ${line}`);
    return judged.map(({ run, verdict }) => ({ run, verdict: { ...verdict, faults: [...verdict.faults, ...errors] } }));
  } finally {
    await service.close();
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  const bindings = chosen(plan.BINDINGS, values.binding);
  const setUps = chosen(plan.SET_UPS, values['set-up']);
  const callers = chosen(plan.CALLERS, values.callers);
  const suite = await findSuite({ tck: values.tck, python: values.python, grpc: bindings.includes('grpc') });
  const revision = await revisionOf(suite.checkout);
  const complete = [values.binding, values['set-up'], values.callers].every((value) => value === undefined);
  if (values.record && (!complete || revision === undefined)) {
    throw new CannotRun('--record needs all bindings, set-ups and callers, and a clean checkout made by git');
  }
  if (revision !== plan.SUITE_REVISION) {
    console.error(`The suite is ${revision ?? 'of no revision known to git'}, not the pinned ${plan.SUITE_REVISION}.`);
  }
  const judged: Judged[] = [];
  for (const setUp of setUps) {
    // The suite spends most of its time waiting.
    const both = callers.map((caller) => bindings.map((binding) => ({ binding, setUp, callers: caller })));
    judged.push(...(await Promise.all(both.map((runs) => tryService(suite, revision, runs)))).flat());
  }
  const rows = judged.map(({ run, verdict }) => resultRow(run, verdict, { revision: revision ?? '?', ...tested() }));
  console.log(printable('suite results', rows));
  for (const { run, verdict } of judged) {
    for (const fault of verdict.faults) console.log(`${run.binding}, ${run.setUp}, ${run.callers}: ${fault}`);
  }
  if (judged.length === 0 || judged.some(({ verdict }) => verdict.faults.length > 0)) return 1;
  if (values.record) {
    recordResults('suite results', rows);
    recordResults('known failures', failureRows(KNOWN_FAILURES));
  }
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Error)) throw error;
  console.error(`test:tck: ${error instanceof CannotRun || 'code' in error ? error.message : error.stack}`);
  process.exitCode = 2;
}
