import { artifactText, isTerminal, statusText } from '../../client/a2a.ts';
import { need, type Scene, shortState, showEnd, stateOf } from '../stage.ts';
import { until } from '../until.ts';

const KEY = 'PAY-2';
const POLL_MS = 100;
/** Whole seconds count in a token: shorter and it might be over before the task is taken. */
const TOKEN_LIFE_MS = 3_000;
const LINK = /\]\((https:\/\/lantern\.example\/jira\/settings\/personal\/apps\/[^)\s]+)\)/;

export const USER_TOKEN: Scene = {
  title: "A user's token that expires in the middle",
  async play(stage) {
    const { jira, site, show, claim } = stage;
    const token = site.newToken('alice', { lifeMs: TOKEN_LIFE_MS });
    show.does(
      'Alice',
      `assigns ${KEY} "Price service returns stale totals"; her OAuth token has ${TOKEN_LIFE_MS / 1_000} s to live`,
    );
    const gate = site.traffic.gate(KEY);
    const sent = await jira.assign(KEY, { userToken: { token } }).sync();
    const { id } = need(sent.task, 'task');
    await gate.reached();
    await until(() => site.tokens.look(token).state === 'expired', { what: 'the token to expire' });
    show.note(`Jira takes its time with ${KEY}, and the token runs out before the next question.`);
    gate.open();
    const parked = await jira.poll(id, {
      userToken: { token },
      intervalMs: POLL_MS,
      until: ({ status }) => isTerminal(status.state) || status.state === 'TASK_STATE_AUTH_REQUIRED',
    });
    showEnd(stage, parked.task);
    const link = LINK.exec(statusText(parked.task))?.[1];
    claim(stateOf(parked.task) === 'AUTH_REQUIRED', 'the task waits in AUTH_REQUIRED', stateOf(parked.task));
    claim(link !== undefined, 'and links to where Alice can allow access on her own site');
    const same = await jira.get(id, { userToken: { token } });
    claim(
      stateOf(same.task) === 'AUTH_REQUIRED',
      'a poll that brings the old token changes nothing',
      stateOf(same.task),
    );
    show.does('Jira', 'polls on, now with a fresh token');
    const done = await jira.poll(id, { userToken: 'fresh', intervalMs: POLL_MS });
    showEnd(stage, done.task, 3);
    claim(
      stateOf(done.task) === 'COMPLETED',
      `it went on by itself: ${done.states.map(shortState).join(', ')}`,
      stateOf(done.task),
    );
    const text = artifactText(done.task);
    claim(text.split(`# ${KEY} `).length === 2 && text.includes('PAY-3'), 'the brief is whole, and in it once');
    claim(!JSON.stringify(done.task).includes(token), 'the token is nowhere in the task');
    if (done.task) stage.ended.push({ as: 'alice', task: done.task });
  },
};
