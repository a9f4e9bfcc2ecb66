import { isTerminal, statusText } from '../client/a2a.ts';
import type { Invocation } from '../client/jira-client.ts';
import { JIRA_LIMITS } from '../limits.ts';
import { type Bench, brief, type Check, must, mustBeClean, skip } from './check.ts';

/** What a check may take in real time, and the scale that gets it there. */
const MAX_CHECK_MS = 100_000;

/** Jira never answers about the work item: whatever the agent tries, its time runs out. */
async function mustBeOverInTime(
  { client, atlassian, site, item }: Bench,
  interactionMs: number,
  start: (key: string) => Invocation,
): Promise<string> {
  const limitMs = atlassian.timeScale.deadline(interactionMs);
  if (limitMs > MAX_CHECK_MS) {
    const scale = Math.ceil(interactionMs / MAX_CHECK_MS);
    skip(`takes ${Math.round(limitMs / 60_000)} min: use --time-scale ${scale} or more on both sides`);
  }
  const startedAt = performance.now();
  const { key } = item();
  const gate = site.traffic.gate(key);
  let asked = false;
  void gate.reached().then(() => {
    asked = true;
  });
  const sent = await start(key).sync();
  must(sent.task !== undefined, sent.error?.message ?? brief(sent.text));
  const over = await client.poll(sent.task.id, { limitMs: interactionMs });
  gate.open();
  mustBeClean(over.faults, 'polls');
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const state = over.task?.status.state;
  must(over.task !== undefined && isTerminal(over.task.status.state), `still ${state} after ${seconds} s`);
  if (state === 'TASK_STATE_COMPLETED') skip('the agent did not wait for its work item');
  must(asked, `${state} after ${seconds} s, before it asked for its work item`);
  must(statusText(over.task).trim() !== '', `${state} without a word`);
  return `${state} after ${seconds} s of ${(limitMs / 1000).toFixed(1)}: "${brief(statusText(over.task), 40)}"`;
}

export const DEADLINE_CHECKS: readonly Check[] = [
  {
    id: 'deadline.item',
    rule: 'Work that a work item started is over within 60 min, with a word on why',
    slow: true,
    run: (bench) => mustBeOverInTime(bench, JIRA_LIMITS.itemInteractionMs, (key) => bench.client.assign(key)),
  },
  {
    id: 'deadline.chat',
    rule: 'Work that a chat started is over within 30 min, with a word on why',
    slow: true,
    run: (bench) =>
      mustBeOverInTime(bench, JIRA_LIMITS.chatInteractionMs, (key) => bench.client.chat(`What is ${key} about?`)),
  },
];
