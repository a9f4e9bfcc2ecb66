import { cpus } from 'node:os';
import { acceptStore } from './accept-store.ts';
import { append } from './append.ts';
import type { Scenario } from './scenario.ts';

const SCENARIOS: Readonly<Record<string, Scenario>> = { append, 'accept-store': acceptStore };

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in SCENARIOS));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; there are: ${Object.keys(SCENARIOS).join(', ')}`);
  process.exit(2);
}
const cpu = cpus();
console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpu.length} cores of ${cpu[0]?.model ?? 'an unknown CPU'}`,
);
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n${name}`);
  await scenario((line) => console.log(`  ${line}`));
}
