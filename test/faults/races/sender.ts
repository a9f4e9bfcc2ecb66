// A process of its own with the store open, a runner and callers. Reads message ids, a JSON array a line, sends each
// message many times at once and answers what each call was told, one JSON line.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openSqliteStore } from '../../../adapters/sqlite/open.ts';
import { createMemoryVault } from '../../../adapters/vault/memory-vault.ts';
import { createOperations } from '../../../core/operations/create-operations.ts';
import type { Agent } from '../../../core/ports/agent.ts';
import { createRunner } from '../../../core/runtime/runner.ts';
import { createWakeups } from '../../../core/runtime/wakeups.ts';
import { sha256, systemClock, timeOrderedIds } from '../../../src/system-clock.ts';
import { A2A } from '../../support/client.ts';
import { silentTelemetry } from '../../support/silent-telemetry.ts';
import { textOf } from './arena.ts';

export interface Told {
  readonly messageId: string;
  /** Of each call: the task's id, or what it was refused with. */
  readonly answers: readonly string[];
  /** How often an agent of this process was started for it. */
  readonly runs: number;
}

/** Of each message, half of them wait for the end of the task. */
const CALLS = 10;

const [, , path = ''] = process.argv;
const [clock, ids, digest, telemetry] = [systemClock, timeOrderedIds, sha256, silentTelemetry];
const wakeups = createWakeups(clock);
const { store } = await openSqliteStore({ path, clock, wakeups });
const vault = createMemoryVault({ digest, clock });
const operations = createOperations({ store, vault, wakeups, clock, ids, digest, telemetry });
const runs = new Map<string, number>();
const agent: Agent = {
  async *run({ message }) {
    const text = textOf(message);
    runs.set(text, (runs.get(text) ?? 0) + 1);
    yield { state: 'TASK_STATE_COMPLETED', message: text };
  },
};
const runner = createRunner({
  ...{ store, wakeups, clock, ids, digest, telemetry, agent, agentId: 'agent' },
  ...{ worker: `worker-${process.pid}`, concurrency: 100, leaseMs: 30_000, parkedMaxMs: 3_600_000 },
  capabilities: async () => ({}),
});
runner.start();
const caller = { owner: { tenant: 'test', principal: 'alice', agent: 'agent' } };

async function sendOne(messageId: string, returnImmediately: boolean): Promise<string> {
  const message = { messageId, role: 'ROLE_USER', parts: [{ text: messageId }] } as const;
  const incoming = { caller, message, key: messageId, deadlineMs: 600_000 };
  try {
    const answer = await operations.sendMessage(A2A, incoming, { returnImmediately }, new AbortController().signal);
    return 'task' in answer ? answer.task.id : 'a message';
  } catch (error) {
    return String(error);
  }
}

async function sendOften(messageId: string): Promise<Told> {
  const answers = await Promise.all(Array.from({ length: CALLS }, (_, call) => sendOne(messageId, call % 2 === 0)));
  return { messageId, answers, runs: runs.get(messageId) ?? 0 };
}

function say(answer: unknown): void {
  writeSync(1, `${JSON.stringify(answer)}\n`);
}

say('ready');
// The service's timers keep no process alive; the open input does.
for await (const line of createInterface({ input: process.stdin })) {
  say(await Promise.all((JSON.parse(line) as readonly string[]).map(sendOften)));
}
await runner.stop(10_000);
await store.close();
