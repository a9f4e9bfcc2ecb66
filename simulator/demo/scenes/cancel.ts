import { need, requestsAbout, type Scene, showEnd, stateOf } from '../stage.ts';
import { until } from '../until.ts';

const KEY = 'SHOP-4';

export const CANCEL: Scene = {
  title: 'A canceled task',
  async play(stage) {
    const { jira, site, show, claim } = stage;
    show.does('Bob', `assigns ${KEY} "Show the delivery date in the basket" to the agent; Jira's REST API hangs today`);
    const gate = site.traffic.gate(KEY);
    const sent = await jira.assign(KEY, { as: 'bob' }).sync();
    const { id } = need(sent.task, 'task');
    await gate.reached();
    const answered = requestsAbout(site, KEY).length;
    show.does('Jira', `has the task in ${stateOf(sent.task)}`);
    show.does('Bob', 'changes his mind');
    const startedAt = performance.now();
    const canceled = await jira.cancel(id, { as: 'bob' });
    show.does('Jira', `CancelTask is answered after ${Math.round(performance.now() - startedAt)} ms`);
    showEnd(stage, canceled.task);
    claim(
      stateOf(canceled.task) === 'CANCELED',
      'the task is CANCELED',
      canceled.error?.message ?? stateOf(canceled.task),
    );
    // The gate is still shut, so the only way for that request to end is that the agent hangs up.
    await until(() => requestsAbout(site, KEY).length > answered, { what: 'the agent to hang up on the work item' });
    claim(true, `the agent hung up on ${KEY} ${Math.round(performance.now() - startedAt)} ms after the cancellation`);
    gate.open();
    const later = await jira.get(id, { as: 'bob' });
    claim(
      stateOf(later.task) === 'CANCELED',
      'now that Jira answers again the task stays CANCELED',
      stateOf(later.task),
    );
    if (later.task) stage.ended.push({ as: 'bob', task: later.task });
  },
};
