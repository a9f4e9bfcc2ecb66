import { compose } from './compose.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { readEnvironment } from './environment.ts';
import { StartError } from './start-error.ts';
import { createTelemetry } from './telemetry.ts';
import { packageVersion } from './version.ts';

/*
 * The program. Configuration faults end it with 78 before anything is opened; a start that fails otherwise ends it with 1.
 * The first SIGTERM or SIGINT drains and exits 0, a second one exits at once, and so does a drain that comes to no end.
 * Ctrl-C under npm is one wish and two SIGINT: the terminal sends it to everybody, and npm passes its own on.
 */

const ALIVE_MS = 60_000;
/** Beyond DRAIN_MS, for a shutdown that a busy disk holds up. Together they fit into the 30 s that supervisors give. */
const LATE_MS = 4_000;
/** For the store's thread, which process.exit waits for however long it waits for its disk. */
const HALT_MS = 1_000;
/** A SIGINT within this time behind another one is the same. */
const SAME_MS = 1_000;

async function main(): Promise<void> {
  const config = loadConfig(readEnvironment(process.env));
  const telemetry = createTelemetry({ level: config.logLevel, processMetrics: true });
  for (const warning of config.warnings) telemetry.event('warn', 'config.warning', { warning });
  process.on('unhandledRejection', (error) => telemetry.event('error', 'process.unhandled_rejection', {}, error));
  const service = await compose(config, telemetry);
  // Timers of ours keep no process alive, and a turn may wait on nothing else: without this one a drain could end early,
  // with the exit code of success.
  const alive = setInterval(() => undefined, ALIVE_MS);
  process.exitCode = 1;
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  const endNow = (): void => {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), HALT_MS);
    void service.halt().then(() => process.exit(1));
  };
  const stop = (signal: NodeJS.Signals): void => {
    const at = performance.now();
    if (first !== undefined) {
      if (signal === 'SIGINT' && first.signal === 'SIGINT' && at - first.at < SAME_MS) return;
      telemetry.event('error', 'service.stop_cut', { signal });
      endNow();
      return;
    }
    first = { signal, at };
    telemetry.event('info', 'service.stopping', { signal });
    setTimeout(() => {
      telemetry.event('error', 'service.stop_late');
      endNow();
    }, config.drainMs + LATE_MS);
    service.stop().then(
      () => {
        clearInterval(alive);
        telemetry.event('info', 'service.stopped');
        process.exit(0);
      },
      (error: unknown) => {
        telemetry.event('error', 'service.stop_failed', {}, error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const listening = await service.start();
  telemetry.event('info', 'service.ready', { ...listening, ...whatRuns(config), version: packageVersion });
}

/** So that the first line says which of several services this is. */
function whatRuns({ role, rovo, a2a, agent }: Config) {
  const edges = role === 'worker' ? [] : [...(rovo ? ['rovo'] : []), ...(a2a ? ['a2a'] : [])];
  return { role, edges: edges.join(',') || 'none', agent: agent.id, agentSource: agent.source };
}

main().catch((error: unknown) => {
  // Before it is ready there is a person who started it: what they can mend is said in words, the rest with its stack.
  const mendable = error instanceof ConfigError || error instanceof StartError;
  console.error(mendable ? error.message : error);
  process.exit(mendable ? error.exitCode : 1);
});
