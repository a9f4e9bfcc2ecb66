import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isTerminal, statusText, type Task } from '../../simulator/client/a2a.ts';
import type { RpcAnswer } from '../../simulator/client/calls.ts';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import { script } from '../e2e/world.ts';
import { until } from '../support/until.ts';
import { CONVERSATION, leftBy, type TaskRow, told } from './matrix.ts';
import { startPlainClients } from './persistent-client.ts';
import { createStage, POLICIES, type Stage } from './stage.ts';

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

interface Scenario {
  readonly settings?: Readonly<Record<string, string>>;
  /** Until the process is dead. Answers what is left to do at the next one: it gives the task that has ended. */
  act(first: JiraClient, stage: Stage): Promise<(second: JiraClient) => Promise<Task>>;
}

/** The lease outlives the restart, so nothing but what is tested ends the turn. */
const LONG_LEASE = { LEASE_MS: '30000' };

function taskOf({ task, text }: RpcAnswer): Task {
  assert.ok(task, text);
  return task;
}

async function ended(client: JiraClient, taskId: string): Promise<Task> {
  return until('the task has ended', async () => {
    const task = taskOf(await client.get(taskId));
    return isTerminal(task.status.state) && task;
  });
}

const QUESTION = ['ask Which one?'];
const send = (client: JiraClient, params: object) => client.rpc('SendMessage', params);

const unansweredCall: Scenario = {
  async act(first) {
    const question = script(QUESTION);
    await assert.rejects(send(first, question));
    return async (second) => {
      const asked = taskOf(await send(second, question));
      assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED');
      return taskOf(await send(second, script(['complete Thanks.'], { taskId: asked.id })));
    };
  },
};

const followUp: Scenario = {
  async act(first) {
    const asked = taskOf(await send(first, script(QUESTION)));
    const answer = script(['complete Thanks.'], { taskId: asked.id });
    await assert.rejects(send(first, answer));
    return async (second) => {
      const task = taskOf(await send(second, answer));
      const said = (task.history ?? []).map(({ parts }) => parts[0]?.text);
      assert.deepEqual(said, ['ask Which one?', 'Which one?', 'complete Thanks.'], 'each message once');
      return task;
    };
  },
};

async function startHanging(client: JiraClient, stage: Stage): Promise<string> {
  const { id } = taskOf(await send(client, script(['hang', 'complete Too late.'], { returnImmediately: true })));
  await until('the agent hangs', () => stage.counted(id).runs === 1);
  return id;
}

const cancellation: Scenario = {
  settings: LONG_LEASE,
  async act(first, stage) {
    const taskId = await startHanging(first, stage);
    await assert.rejects(first.cancel(taskId));
    return async (second) => taskOf(await second.cancel(taskId));
  },
};

const deadline: Scenario = {
  settings: { ...LONG_LEASE, A2A_TASK_DEADLINE_MS: '1500' },
  async act(first, stage) {
    const taskId = await startHanging(first, stage);
    return async (second) => {
      const task = await ended(second, taskId);
      assert.match(statusText(task), /took longer than it may/);
      return task;
    };
  },
};

const SCENARIOS: Readonly<Record<keyof typeof CONVERSATION, Scenario>> = {
  'before the answer to a call': unansweredCall,
  'before the commit of a follow-up': followUp,
  'after the commit of a follow-up': followUp,
  'before the commit of a cancellation': cancellation,
  'after the commit of a cancellation': cancellation,
  'before the commit of a passed deadline': deadline,
  'after the commit of a passed deadline': deadline,
};

describe('a process that is killed in a conversation', { concurrency: 3 }, () => {
  for (const [point, scenario] of Object.entries(SCENARIOS)) {
    const row: TaskRow = CONVERSATION[point as keyof typeof CONVERSATION];
    for (const policy of POLICIES) {
      test(`killed ${point}, ${policy} agent: ${told(row[policy])}`, async (t) => {
        const stage = createStage(t, policy, scenario.settings);
        const first = stage.launchToDie(point);
        await first.ready();
        const goOn = await scenario.act(clients.at(first), stage);
        await stage.died(first);
        assert.deepEqual(stage.states(), [leftBy(row, policy)], 'what it left');

        const second = clients.at(await stage.start());
        const task = await goOn(second);
        const ending = row[policy];
        assert.equal(task.status.state, `TASK_STATE_${ending.state}`);
        assert.deepEqual((await second.get(task.id)).task, task, 'it stays so');
        const { runs, effects } = stage.counted();
        assert.deepEqual([runs, effects.length], [ending.runs, ending.effects], 'runs and effects');
        assert.equal(stage.states().length, 1);
        await stage.expectClean();
      });
    }
  }
});
