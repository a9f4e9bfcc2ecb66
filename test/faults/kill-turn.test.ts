import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { textOf } from '../../core/message.ts';
import { artifactText, statusText } from '../../simulator/client/a2a.ts';
import { chunksOf } from '../e2e/agents/texts.ts';
import { leftBy, type TaskRow, TURN, told } from './matrix.ts';
import { createPersistentClient, startPlainClients } from './persistent-client.ts';
import { createStage, POLICIES } from './stage.ts';

const CHUNKS = 6;
const SCRIPT = ['say Started.', 'watched', 'step pay', `chunks ${CHUNKS}`, 'complete Done.'];
const WHOLE = chunksOf(CHUNKS, 20);

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

describe('a process that is killed in a turn', { concurrency: 3 }, () => {
  for (const [point, row] of Object.entries<TaskRow>(TURN)) {
    for (const policy of POLICIES) {
      test(`killed ${point}, ${policy} agent: ${told(row[policy])}`, async (t) => {
        const stage = createStage(t, policy);
        const client = createPersistentClient({ at: clients.at, lines: SCRIPT, onFrame: () => stage.watched() });

        const first = stage.launchToDie(point);
        await first.ready();
        await client.begin(first);
        await stage.died(first);
        const left = leftBy(row, policy);
        assert.deepEqual(stage.states(), left === 'no task' ? [] : [left], 'what it left');
        const written = stage.written();

        stage.unwatched();
        const second = await stage.start();
        const act = await client.goOn(second);
        const expected = { 'sends again': 'sent again', 'resumes its stream': 'resumed' }[row.client] ?? 'read';
        // Nothing holds back the end of a turn that is not run again: it may be there before the client is.
        if (policy === 'rerun' || act !== 'read') assert.equal(act, expected);
        const taskId = String(client.taskId);
        const { task } = await clients.at(second).get(taskId);
        const ending = row[policy];
        assert.equal(task?.status.state, `TASK_STATE_${ending.state}`);
        const { runs, effects } = stage.counted(taskId);
        assert.deepEqual([runs, effects.length], [ending.runs, ending.effects], 'runs and effects');
        assert.ok(new Set(effects).size <= 1, 'one idempotency key');
        const text = artifactText(task);
        if (ending.state === 'COMPLETED') assert.equal(text, WHOLE, 'nothing lost, nothing twice');
        else {
          assert.equal(text, written, 'what was written before, and no more');
          assert.match(statusText(task), /needs review/);
        }

        if (act !== 'read') {
          assert.equal(client.view.status?.state, task?.status.state);
          assert.equal(
            client.view.artifacts.map(({ parts }) => textOf(parts)).join(''),
            text,
            'what the stream showed',
          );
        }
        assert.deepEqual(await client.repeat(second), task, 'a repeat is answered with the same task');
        assert.equal(stage.counted().runs, ending.runs, 'and runs nothing');
        assert.equal(stage.query('select 1 from task').length, 1);
        await stage.expectClean();
      });
    }
  }
});
