import { openExistingSqliteStore } from '../adapters/sqlite/open.ts';
import { SqliteOpenError } from '../adapters/sqlite/open-error.ts';
import { isDomainError } from '../core/errors.ts';
import { OperatorRefusal } from '../core/operator-refusal.ts';
import { createWakeups } from '../core/runtime/wakeups.ts';
import { ConfigError } from './config.ts';
import { readAct } from './ops/actor.ts';
import { readArguments, UsageError } from './ops/arguments.ts';
import type { Session, Shown } from './ops/command.ts';
import { databasePath } from './ops/database.ts';
import { findCommand } from './ops/find-command.ts';
import { printable, printableJson } from './ops/printable.ts';
import { USAGE } from './ops/usage.ts';
import { sha256, systemClock, timeOrderedIds } from './system-clock.ts';

/*
 * `npm run ops`: what an operator does, beside services that run on the same database. It knows them only through it:
 * what it commits holds for all of them at their next look, a fraction of a second later.
 */

const EXIT_USAGE = 64;
const EXIT_CONFIG = 78;

type Run = (session: Session) => Promise<Shown>;

async function inSession(path: string, act: Session['act'], run: Run): Promise<Shown> {
  const clock = systemClock;
  const { store, operator } = await openExistingSqliteStore({ path, clock, wakeups: createWakeups(clock) });
  // Timers of the store keep no process alive, and one may be all that a busy database leaves to wait for.
  const alive = setInterval(() => {}, 1_000);
  try {
    return await run({ store, operator, act, ids: timeOrderedIds, digest: sha256 });
  } finally {
    clearInterval(alive);
    await store.close();
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const given = readArguments(argv);
  if (given.flag('help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { command, args } = findCommand(given);
  const run = command.prepare(args);
  const act = readAct(args);
  const shown = await inSession(databasePath(args), act, run);
  if (args.flag('json')) process.stdout.write(`${printableJson(shown.json)}\n`);
  else {
    process.stdout.write(shown.text);
    if (shown.note !== undefined) process.stderr.write(shown.note);
  }
  return 0;
}

function explain(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`${printable(error.message)}\nHow it is used: npm run ops -- --help\n`);
    return EXIT_USAGE;
  }
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof SqliteOpenError && error.code === 'MISSING') {
    process.stderr.write(`${printable(error.message)}; name it with --database <file> or in DATABASE_URL\n`);
    return EXIT_CONFIG;
  }
  if (error instanceof OperatorRefusal || error instanceof SqliteOpenError) {
    process.stderr.write(`${printable(error.message)}\n`);
    return 1;
  }
  if (isDomainError(error, 'STORE_UNAVAILABLE')) {
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    process.stderr.write(`the database cannot be used now (${error.storeFault ?? 'failing'}${printable(cause)})\n`);
    return 1;
  }
  throw error;
}

// Whoever reads may have seen enough: `… | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await main(process.argv.slice(2)).catch(explain);
