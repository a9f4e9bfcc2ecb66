import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { acceptAlone } from './accept-alone.ts';
import { acceptStore } from './accept-store.ts';
import { append } from './append.ts';
import { appendService } from './append-service.ts';
import { backlog } from './backlog.ts';
import { MISSED } from './bars.ts';
import { readCommandLine, type Saved, UsageError } from './command-line.ts';
import { eventLatency } from './event-latency.ts';
import { floodScenario } from './flood.ts';
import { idleStreams } from './idle-streams.ts';
import { packageVersions } from './package-versions.ts';
import { recovery } from './recovery.ts';
import { REQUEST_SCENARIOS } from './requests.ts';
import { retention } from './retention.ts';
import { ROVO_SCENARIOS } from './rovo-requests.ts';
import type { Figures, Print, Scenario } from './scenario.ts';
import { snapshot } from './snapshot.ts';
import { startToReady } from './start-to-ready.ts';

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...REQUEST_SCENARIOS,
  ...ROVO_SCENARIOS,
  'accept-alone': acceptAlone,
  'accept-store': acceptStore,
  backlog,
  append,
  'append-service': appendService,
  snapshot,
  'event-latency': eventLatency,
  'idle-streams': idleStreams,
  start: startToReady,
  recovery,
  retention,
  flood: floodScenario,
};

const USAGE = `npm run bench -- [NAME …] [--rounds 3] [--seconds 3] [--at 1,16,64] [--save FILE] [--against FILE]
--seconds is 60 for the flood when it is not given
names: ${Object.keys(SCENARIOS).join(', ')} (all when none is given)`;

function compare(name: string, now: Figures, before: Saved | undefined): void {
  for (const [figure, value] of Object.entries(now)) {
    const old = before?.[name]?.[figure];
    if (old !== undefined)
      console.log(`  ${figure}: ${value.toFixed(2)}, was ${old.toFixed(2)} (${(value / old).toFixed(2)} x)`);
  }
}

async function main(): Promise<void> {
  const { help, names, options, save, before } = await readCommandLine(process.argv.slice(2), Object.keys(SCENARIOS));
  if (help) {
    console.log(USAGE);
    return;
  }
  const cpu = cpus();
  console.log(
    `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpu.length} cores of ${cpu[0]?.model ?? 'an unknown CPU'}`,
  );
  console.log((await packageVersions()).join(', '));
  const missed: string[] = [];
  const all: Record<string, Figures> = {};
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    console.log(`\n${name}`);
    const print: Print = (line) => {
      console.log(`  ${line}`);
      missed.push(...line.split('\n').flatMap((each) => (each.includes(MISSED) ? [`${name}: ${each.trim()}`] : [])));
    };
    all[name] = await scenario(print, options);
    compare(name, all[name], before);
  }
  if (missed.length > 0) console.log(`\nnot reached:\n  ${missed.join('\n  ')}`);
  if (save !== undefined) await writeFile(save, `${JSON.stringify(all, undefined, 2)}\n`);
}

main().catch((error: unknown) => {
  console.error(error instanceof UsageError ? `${error.message}\n${USAGE}` : error);
  process.exitCode = error instanceof UsageError ? 64 : 1;
});
