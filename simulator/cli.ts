#!/usr/bin/env node
import { HELP_HINT, readArguments, UsageError } from './commands/arguments.ts';
import { check } from './commands/check.ts';
import { NotServing, sendCommand } from './commands/control.ts';
import { serve } from './commands/serve.ts';
import { USAGE } from './commands/usage.ts';

const EXIT_USAGE = 64;
const EXIT_UNAVAILABLE = 69;
const EXIT_INTERRUPTED = 130;

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
const write = (text: string): void => void process.stdout.write(text);
// `… | head` has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

async function main(argv: readonly string[]): Promise<number> {
  const args = readArguments(argv);
  if (args.help) {
    write(USAGE);
    return 0;
  }
  if (args.command === 'serve') {
    await serve(args, stop.signal, write);
    return 0;
  }
  // Everything is in memory: an interrupted check has nothing to put in order.
  if (args.command === 'check') stop.signal.addEventListener('abort', () => process.exit(EXIT_INTERRUPTED));
  if (args.command === 'check') return (await check(args, stop.signal, write)) ? 0 : 1;
  const end = await sendCommand(argv, { controlPort: args.controlPort, signal: stop.signal, write });
  if (end === 'usage') process.stderr.write(`${HELP_HINT}\n`);
  return { done: 0, failed: 1, usage: EXIT_USAGE }[end];
}

function explain(error: unknown): number {
  if (stop.signal.aborted) return EXIT_INTERRUPTED;
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n${HELP_HINT}\n`);
    return EXIT_USAGE;
  }
  if (error instanceof NotServing) {
    process.stderr.write(`${error.message}\n`);
    return EXIT_UNAVAILABLE;
  }
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    process.stderr.write(
      `${error.message}: is a simulator running already? Other ports: --jwks-port, --site-port, --control-port\n`,
    );
    return EXIT_UNAVAILABLE;
  }
  throw error;
}

process.exitCode = await main(process.argv.slice(2)).catch(explain);
