import { openThreadedStore } from '../../adapters/sqlite/threaded-store.ts';
import { createWakeups } from '../../core/runtime/wakeups.ts';
import { systemClock } from '../../src/system-clock.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';

/* A program that would run for ever on the file that its argument names, if its store did. */

await openThreadedStore(new URL('./crashing-thread.js', import.meta.url), {
  path: process.argv[2] ?? '',
  clock: systemClock,
  wakeups: createWakeups(systemClock),
  telemetry: silentTelemetry,
});
setInterval(() => undefined, 60_000);
