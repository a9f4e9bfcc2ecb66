#!/usr/bin/env node
import { readArguments, UsageError } from './commands/arguments.ts';
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
  return (await sendCommand(argv, args.controlPort, write)) ? 0 : 1;
}

function explain(error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
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
