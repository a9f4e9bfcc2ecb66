import { isDeepStrictEqual } from 'node:util';
import { artifactText } from '../../client/a2a.ts';
import { narrate, need, requestsAbout, type Scene, type Stage, showEnd, stateOf } from '../stage.ts';
import { until } from '../until.ts';

const KEY = 'SHOP-6';
const POLL_MS = 200;

async function unchanged({ ended, jira }: Stage): Promise<number> {
  const found = await Promise.all(
    ended.map(async ({ as, task }) => isDeepStrictEqual((await jira.get(task.id, { as })).task, task)),
  );
  return found.filter(Boolean).length;
}

export const CRASH: Scene = {
  title: 'The service killed in the middle of a task',
  async play(stage) {
    const { jira, site, service, show, claim } = stage;
    show.does('Bob', `assigns ${KEY} "Rewrite the basket mails" to the agent`);
    const before = requestsAbout(site, KEY).length;
    const reading = site.traffic.gate(KEY);
    const sent = await jira.assign(KEY, { as: 'bob' }).sync();
    const { id } = need(sent.task, 'task');
    await reading.reached();
    const relating = site.traffic.gate(KEY);
    await relating.reached();
    let written = '';
    await until(
      async () => {
        written = artifactText((await jira.get(id, { as: 'bob' })).task);
        return written !== '';
      },
      { what: 'the first part of the brief' },
    );
    show.does('Agent', `WORKING, ${written.length} characters of the brief are written`);
    show.does('Operator', 'kill -9');
    service.signal('SIGKILL');
    await service.exited();
    relating.open();
    show.does('Jira', 'polls on and finds nobody');
    const polling = jira.poll(id, { as: 'bob', intervalMs: POLL_MS, onTask: narrate(stage) });
    await service.start();
    show.does('Operator', 'started it again on the same database');
    const done = await polling;
    showEnd(stage, done.task, 3);
    const whole = artifactText(done.task);
    const reads = requestsAbout(site, KEY)
      .slice(before)
      .filter(({ path }) => /\/issue\/[^/]+$/.test(path)).length;
    claim(
      done.missed > 0,
      `${done.missed} of ${done.polls} polls found nobody, and Jira had nothing else to do than to go on`,
      String(done.missed),
    );
    claim(
      stateOf(done.task) === 'COMPLETED',
      "the task ended as the agent's policy `rerun` says: started over, COMPLETED",
      stateOf(done.task),
    );
    claim(reads === 2, 'the work item was read twice, once by each process', `${reads} times`);
    const again = await jira.assign(KEY, { as: 'bob' }).run({ intervalMs: POLL_MS });
    claim(
      written !== '' && whole === artifactText(again.task),
      'nothing of the lost attempt is doubled: the brief is the one that an undisturbed run writes',
      `${whole.length} against ${artifactText(again.task).length} characters`,
    );
    const same = await unchanged(stage);
    claim(same === stage.ended.length, `all ${stage.ended.length} tasks that ended today read as before`, `${same}`);
    show.note(
      'An agent with the policy `review`, which is the default, is not started over: its task reads FAILED and says that it needs review, ' +
        'because it might do something twice.',
    );
    if (done.task) stage.ended.push({ as: 'bob', task: done.task });
  },
};
