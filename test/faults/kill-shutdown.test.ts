import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { statusText } from '../../simulator/client/a2a.ts';
import { until } from '../support/until.ts';
import { leftBy, SHUTDOWN, type TaskRow, told } from './matrix.ts';
import { createPersistentClient, startPlainClients } from './persistent-client.ts';
import { createStage, POLICIES } from './stage.ts';

const SCRIPT = ['say Started.', 'watched', 'hang-once', 'step pay', 'complete Done.'];
/** Of this, 3 s are kept to write down what was interrupted and 1 s to close: turns are stopped at once. */
const NO_DRAIN = { DRAIN_MS: '4000' };

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

describe('a process that is killed while it shuts down', { concurrency: 3 }, () => {
  for (const [point, row] of Object.entries<TaskRow>(SHUTDOWN)) {
    for (const policy of POLICIES) {
      test(`killed ${point}, ${policy} agent: ${told(row[policy])}`, async (t) => {
        const stage = createStage(t, policy);
        const client = createPersistentClient({ at: clients.at, lines: SCRIPT, onFrame: () => stage.watched() });
        const first = row.fault ? stage.launchToDie(point, NO_DRAIN) : await stage.start();
        await first.ready();
        const reading = client.begin(first);
        await until('the agent hangs', () => stage.counted().runs === 1);
        await until('the client has seen it', () => stage.isWatched());
        first.signal('SIGTERM');
        if (row.fault) await stage.died(first);
        else {
          await first.logged('service.stopping');
          first.signal('SIGKILL');
          assert.equal(await first.exited(), 'SIGKILL');
          await stage.expectClean({ stopped: true });
        }
        await reading;
        assert.deepEqual(stage.states(), [leftBy(row, policy)], 'what it left');

        stage.unwatched();
        const second = await stage.start();
        const ended = leftBy(row, policy) === 'FAILED';
        const act = await client.goOn(second);
        // Nothing holds back the end of a turn that is not run again: it may be there before the client is.
        if (policy === 'rerun') assert.equal(act, 'resumed');
        if (ended) assert.equal(act, 'read');
        const { task } = await clients.at(second).get(String(client.taskId));
        const ending = row[policy];
        assert.equal(task?.status.state, `TASK_STATE_${ending.state}`);
        if (act === 'resumed') assert.deepEqual(client.view.status, task?.status, 'what the stream showed');
        if (ending.state === 'FAILED') {
          assert.match(statusText(task), ended ? /interrupted by a restart/ : /needs review/);
        }
        const { runs, effects } = stage.counted();
        assert.deepEqual([runs, effects.length], [ending.runs, ending.effects], 'runs and effects');
        assert.deepEqual(await client.repeat(second), task, 'a repeat is answered with the same task');
        await stage.expectClean();
      });
    }
  }
});
