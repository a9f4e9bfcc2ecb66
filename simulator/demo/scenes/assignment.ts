import { artifactText } from '../../client/a2a.ts';
import { narrate, need, type Scene, showEnd, stateOf } from '../stage.ts';

const LATENCY_MS = 200;
const POLL_MS = 100;

export const ASSIGNMENT: Scene = {
  title: 'An assignment, answered by polling',
  async play(stage) {
    const { jira, site, show, claim } = stage;
    show.does('Alice', 'assigns SHOP-1 "Discount code is not reflected in the total" to the agent');
    const gate = site.traffic.gate('SHOP-1');
    const sent = await jira.assign('SHOP-1').sync();
    const { id } = need(sent.task, 'task');
    show.does(
      'Jira',
      `SendMessage is answered after ${Math.round(sent.elapsedMs)} ms; the work item is still being read`,
    );
    claim(sent.task?.status.state === 'TASK_STATE_WORKING', 'the answer is a task in WORKING', stateOf(sent.task));
    const tell = narrate(stage);
    if (sent.task) tell(sent.task);
    site.traffic.latency('SHOP-1', LATENCY_MS);
    gate.open();
    show.does('Jira', `asks GetTask every ${POLL_MS} ms`);
    const done = await jira.poll(id, { intervalMs: POLL_MS, onTask: tell });
    showEnd(stage, done.task, 7);
    claim(
      done.task?.status.state === 'TASK_STATE_COMPLETED',
      `poll ${done.polls} found it COMPLETED`,
      stateOf(done.task),
    );
    claim(artifactText(done.task).includes('## What to do next'), 'with the whole brief as its artifact');
    claim(
      sent.faults.length + done.faults.length === 0,
      "nothing in it that Jira's strict client would refuse",
      done.faults[0],
    );
    if (done.task) stage.ended.push({ as: 'alice', task: done.task });
  },
};
