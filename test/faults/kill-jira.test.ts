import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import { artifactText, statusText } from '../../simulator/client/a2a.ts';
import { chunksOf } from '../e2e/agents/texts.ts';
import { type TaskRow, TURN, told } from './matrix.ts';
import { createStage, POLICIES } from './stage.ts';
import { steadyPort } from './steady-port.ts';

const CHUNKS = 6;
const SCRIPT = ['say Started.', 'watched', 'step pay', `chunks ${CHUNKS}`, 'complete Done.'].join('\n');

let atlassian: Atlassian;
before(async () => {
  atlassian = await startAtlassian();
});
after(() => atlassian.close());

/** Jira comes back by itself as soon as it knows the task; before that its person has to ask again. */
const SEEN = Object.entries<TaskRow>(TURN).filter(([, { client }]) => client !== 'sends again');

describe('a process that is killed while Jira reads its stream', { concurrency: 3 }, () => {
  for (const [point, row] of SEEN) {
    for (const policy of POLICIES) {
      test(`killed ${point} under Jira, ${policy} agent: ${told(row[policy])}`, async (t) => {
        const stage = createStage(t, policy, { ...atlassian.env, A2A_AUTH: 'off', PORT: await steadyPort() });
        const first = stage.launchToDie(point);
        await first.ready();
        const jira = atlassian.client({ url: `${first.origin}/rovo/a2a` });
        const following = jira.chat(SCRIPT).follow({ onFrame: () => stage.watched(), limitMs: 20_000 });
        await stage.died(first);
        const written = stage.written();
        const second = await stage.start();
        assert.equal(second.origin, first.origin);

        const { outcome, task, faults, streams } = await following;
        const ending = row[policy];
        assert.deepEqual([outcome, faults], ['settled', []]);
        assert.ok(streams.length > 1, 'it came back');
        assert.equal(task?.status.state, `TASK_STATE_${ending.state}`);
        assert.equal(artifactText(task), ending.state === 'COMPLETED' ? chunksOf(CHUNKS, 20) : written);
        if (ending.state === 'FAILED') assert.match(statusText(task), /needs review/);
        const { task: polled } = await jira.get(String(task?.id));
        assert.deepEqual([polled?.status, artifactText(polled)], [task?.status, artifactText(task)]);
        const { runs, effects } = stage.counted();
        assert.deepEqual([runs, effects.length], [ending.runs, ending.effects], 'runs and effects');
        await stage.expectClean();
      });
    }
  }
});
