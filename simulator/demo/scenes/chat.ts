import { statusText } from '../../client/a2a.ts';
import { type Scene, showEnd, stateOf } from '../stage.ts';

const QUESTION = 'And what blocks it?';
const POLL_MS = 100;

export const CHAT: Scene = {
  title: 'A chat follow-up that makes sense only with what was said before',
  async play(stage) {
    const { jira, show, claim } = stage;
    const opening = 'Who is on SHOP-1, and when is it due?';
    show.does('Alice', `in chat: "${opening}"`);
    const first = await jira.chat(opening).run({ intervalMs: POLL_MS });
    showEnd(stage, first.task);
    const contextId = first.task?.contextId ?? '';

    show.does('Alice', `goes on in the same chat: "${QUESTION}"`);
    const next = await jira.chat(QUESTION, { contextId }).run({ intervalMs: POLL_MS });
    showEnd(stage, next.task);
    claim(
      next.task?.contextId === contextId && next.task.id !== first.task?.id,
      'the follow-up is a new task in the same context',
    );
    claim(
      statusText(next.task).includes('SHOP-1') && statusText(next.task).includes('PAY-2'),
      '"it" was understood as SHOP-1, and PAY-2 is what blocks it',
      statusText(next.task).slice(0, 80),
    );

    show.does('Alice', `asks the same in a new chat: "${QUESTION}"`);
    const alone = await jira.chat(QUESTION).run({ intervalMs: POLL_MS });
    showEnd(stage, alone.task);
    claim(
      stateOf(alone.task) === 'INPUT_REQUIRED',
      'without what was said before, the agent has to ask',
      stateOf(alone.task),
    );
    show.does('Alice', 'answers: "shop-1"');
    const answered = await jira.chat('shop-1', { contextId: alone.task?.contextId ?? '' }).run({ intervalMs: POLL_MS });
    showEnd(stage, answered.task, 2);
    claim(
      answered.task?.id === alone.task?.id && statusText(answered.task).includes('PAY-2'),
      'the answer goes into the waiting task, which now answers the question',
      statusText(answered.task).slice(0, 80),
    );
    for (const task of [first.task, next.task, answered.task]) if (task) stage.ended.push({ as: 'alice', task });
  },
};
