import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';
import { isTerminal } from '../../simulator/client/a2a.ts';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import { script } from '../e2e/world.ts';
import { startPlainClients } from './persistent-client.ts';
import { createStage, type Stage } from './stage.ts';

/*
 * One tenant floods while another one asks: whatever is refused meanwhile, what was accepted runs once and ends once. The
 * bench of the same name is larger and looks at times; nothing here does.
 */

const SENDERS = 40;
const MESSAGES_EACH = 10;
const READERS = 60;
const STREAMS_EACH = 2;
const PEOPLE = 4;
const QUESTIONS_EACH = 5;
/** Turns that run at once: far fewer than come. What may wait of one tenant is soon full. */
const BOUNDS = { AGENT_CONCURRENCY: '4', MAX_QUEUED_PER_TENANT: '30' };
/** Nobody dies here, and a machine that is this busy may keep a heartbeat waiting. */
const LEASE_MS = '60000';
const POLL_MS = 20;
/** A task that nobody ends fails the test by itself. */
const TIMEOUT_MS = 180_000;
const SCRIPT = ['step pay', 'complete Done.'];

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

interface Sender {
  readonly client: JiraClient;
  /** How often it was told to come back later. */
  refusals: number;
}

/** Sends the same message until it is taken. */
async function accepted(sender: Sender): Promise<string> {
  const { client } = sender;
  const params = script(SCRIPT, { messageId: randomUUID(), returnImmediately: true });
  for (;;) {
    const { task, text } = await client.rpc('SendMessage', params, { limitMs: TIMEOUT_MS });
    if (task) return task.id;
    assert.match(text, /"OVERLOADED"/, 'the only reason to refuse it');
    sender.refusals += 1;
    await later(POLL_MS);
  }
}

/** The same with a stream, read to its end. */
async function watched(sender: Sender): Promise<string> {
  const { client } = sender;
  const params = script(SCRIPT, { messageId: randomUUID() });
  for (;;) {
    const { streamed, task, end, text, faults } = await client.streamRpc('SendStreamingMessage', params, {
      limitMs: TIMEOUT_MS,
    });
    if (streamed) {
      assert.deepEqual(faults, []);
      assert.equal(end, 'agent');
      assert.ok(task && isTerminal(task.status.state), 'the stream ends with its task');
      return task.id;
    }
    assert.match(text, /"OVERLOADED"/, 'the only reason to refuse it');
    sender.refusals += 1;
    await later(POLL_MS);
  }
}

/** So many at a time, each several times after another. */
async function crowd(size: number, times: number, act: () => Promise<string>): Promise<readonly string[]> {
  const ids: string[] = [];
  const one = async (): Promise<void> => {
    for (let time = 0; time < times; time += 1) ids.push(await act());
  };
  await Promise.all(Array.from({ length: size }, one));
  return ids;
}

async function everyTurnIsOver(stage: Stage): Promise<void> {
  while (stage.query("select 1 from execution where outcome = 'open' limit 1").length > 0) await later(POLL_MS);
}

/** Events with a state that is the last one, of each task. */
function endsOf(stage: Stage): ReadonlyMap<string, number> {
  const rows = stage.query<{ id: string; ends: number }>(
    `select t.id, sum(e.json like '%"TASK_STATE_COMPLETED"%' or e.json like '%"TASK_STATE_FAILED"%') as ends
      from task t join event e on e.task = t.pk group by t.id`,
  );
  return new Map(rows.map(({ id, ends }) => [id, ends]));
}

test(`a flood of ${SENDERS} senders and ${READERS} streams of one tenant: no task of anybody is lost or run twice`, {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const stage = createStage(t, 'rerun', { ...clients.atlassian.env, ...BOUNDS, LEASE_MS });
  const service = await stage.start();
  const flooder: Sender = { client: clients.at(service), refusals: 0 };
  const person: Sender = { client: clients.atlassian.client({ url: `${service.origin}/rovo/a2a` }), refusals: 0 };

  const all = await Promise.all([
    crowd(SENDERS, MESSAGES_EACH, () => accepted(flooder)),
    crowd(READERS, STREAMS_EACH, () => watched(flooder)),
    crowd(PEOPLE, QUESTIONS_EACH, () => accepted(person)),
  ]);
  const ids = all.flat();
  assert.ok(flooder.refusals > 0, 'it was a flood');
  assert.equal(person.refusals, 0, 'of somebody else');
  await everyTurnIsOver(stage);

  assert.equal(new Set(ids).size, SENDERS * MESSAGES_EACH + READERS * STREAMS_EACH + PEOPLE * QUESTIONS_EACH);
  assert.deepEqual(
    stage.states(),
    ids.map(() => 'COMPLETED'),
    'every message is one task, and every task is done',
  );
  const ends = endsOf(stage);
  for (const id of ids) {
    const { runs, effects } = stage.counted(id);
    assert.equal(runs, 1, 'one run');
    assert.equal(effects.length, 1, 'one effect');
    assert.equal(ends.get(id), 1, 'one end');
  }
  await stage.expectClean();
});
