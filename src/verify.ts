import { openSqliteFacts, type SqliteFacts } from '../adapters/sqlite/facts.ts';
import type { Finding } from '../core/verify/findings.ts';
import { RULES, type Rule } from '../core/verify/findings.ts';
import { verify } from '../core/verify/verify.ts';
import { printable } from './ops/printable.ts';

/*
 * `npm run verify -- <database>`: does everything hold that this service promises about its data? It may run beside the
 * service: it reads one consistent state and changes nothing. Exit 0: clean. 1: findings. 2: it could not look.
 */

const USAGE = `usage: npm run verify -- <database> [--stopped] [--stale-minutes <n>]

  <database>           a file, as a path or sqlite:<path>
  --stopped            the service does not run: what is overdue is no finding
  --stale-minutes <n>  how late the service may be with what is due (default 10)

One finding a line: rule, task, detail, with tabs between.
Exit: 0 nothing found, 1 findings, 2 wrong usage, or the database cannot be opened.`;

interface Arguments {
  readonly path: string;
  readonly staleAfterMs: number;
}

/** Or what is wrong with them. */
function readArguments(args: readonly string[]): Arguments | string {
  let path: string | undefined;
  let staleAfterMs = 600_000;
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? '';
    if (argument === '--stopped') staleAfterMs = Number.POSITIVE_INFINITY;
    else if (argument === '--stale-minutes') {
      index += 1;
      staleAfterMs = Number(args[index] || Number.NaN) * 60_000;
      if (!(staleAfterMs >= 0)) return '--stale-minutes is a number of minutes';
    } else if (argument.startsWith('-')) return `there is no option ${printable(argument)}`;
    else if (path !== undefined) return 'one database at a time';
    else path = argument.startsWith('sqlite:') ? argument.slice('sqlite:'.length) : argument;
  }
  return path ? { path, staleAfterMs } : 'which database?';
}

/** A damaged database may hold anything where an id should be. */
function print({ rule, taskId, detail }: Finding): void {
  process.stdout.write(`${rule}\t${printable(taskId ?? '-')}\t${printable(detail)}\n`);
}

async function inspect(facts: SqliteFacts, staleAfterMs: number): Promise<number> {
  const broken = new Set<Rule>();
  const report = (finding: Finding): void => {
    broken.add(finding.rule);
    print(finding);
  };
  try {
    const counts = await verify(facts, { staleAfterMs }, report);
    const { tasks, events, messages, executions, findings } = counts;
    const seen = `${tasks} tasks, ${messages} messages, ${executions} executions, ${events} events`;
    console.error(`${findings === 0 ? 'clean' : `${findings} findings`}: ${seen}`);
  } catch (error) {
    // What is too damaged to be read is a finding, the last one.
    report({ rule: 'integrity', detail: `reading stopped: ${error instanceof Error ? error.message : String(error)}` });
  }
  for (const rule of broken) console.error(`  ${rule}: ${RULES[rule]}`);
  return broken.size === 0 ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  if (args.some((argument) => argument === '--help' || argument === '-h')) {
    console.log(USAGE);
    return 0;
  }
  const given = readArguments(args);
  if (typeof given === 'string') {
    console.error(`${given}\n\n${USAGE}`);
    return 2;
  }
  let facts: SqliteFacts;
  try {
    facts = openSqliteFacts({ path: given.path, now: Date.now() });
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 2;
  }
  try {
    return await inspect(facts, given.staleAfterMs);
  } finally {
    facts.close();
  }
}

process.exitCode = await main(process.argv.slice(2));
