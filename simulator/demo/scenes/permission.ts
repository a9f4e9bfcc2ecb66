import { statusText, type Task } from '../../client/a2a.ts';
import { adfToPlainText } from '../../site/adf.ts';
import { need, requestsAbout, type Scene, showEnd } from '../stage.ts';

const HIDDEN = 'PAY-1';
const MISSING = 'PAY-9';
const POLL_MS = 100;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const INSTANT = /\d{4}-\d{2}-\d{2}T[\d:.]+Z/g;

/** The whole task, without what differs between any two tasks. */
const comparable = (task: Task, key: string): string =>
  JSON.stringify(task).replace(UUID, 'id').replace(INSTANT, 'time').replaceAll(key, 'the asked key');

export const PERMISSION: Scene = {
  title: 'Somebody without permission gets no hint that the work item exists',
  async play(stage) {
    const { jira, site, show, claim } = stage;
    const ask = async (as: string, key: string): Promise<Task> => {
      const question = `What is ${key} about, and what blocks it?`;
      show.does(site.records.person(as).displayName.split(' ')[0] ?? as, `in chat: "${question}"`);
      const { task } = await jira.chat(question, { as }).run({ intervalMs: POLL_MS });
      showEnd(stage, task);
      return need(task, 'task');
    };
    show.note(`${HIDDEN} exists, in a project that Carol may not browse. ${MISSING} does not exist.`);
    const hidden = await ask('carol', HIDDEN);
    const missing = await ask('carol', MISSING);
    claim(
      comparable(hidden, HIDDEN) === comparable(missing, MISSING),
      'both tasks are the same, byte for byte, apart from the asked key, ids and times',
    );
    const item = need(site.records.item(HIDDEN), HIDDEN);
    const secrets = `${item.summary} ${adfToPlainText(item.description)}`.match(/[A-Za-z]{6,}/g) ?? [];
    const told = secrets.filter((word) => JSON.stringify(hidden).toLowerCase().includes(word.toLowerCase()));
    claim(told.length === 0, 'no word of its summary or description was told', told.join(', '));
    const askers = requestsAbout(site, HIDDEN).map(({ as }) => as ?? 'nobody');
    claim(
      askers.length > 0 && askers.every((as) => as === 'carol'),
      'and Jira was asked as Carol only',
      askers.join(', '),
    );

    show.note('Bob may browse SHOP and not PAY, where the thing that blocks SHOP-1 is.');
    const bobs = await ask('bob', 'SHOP-1');
    claim(
      !JSON.stringify(bobs).includes('PAY-'),
      'Bob reads about SHOP-1 and nothing about PAY',
      statusText(bobs).slice(0, 80),
    );
    for (const [as, task] of [
      ['carol', hidden],
      ['carol', missing],
      ['bob', bobs],
    ] as const)
      stage.ended.push({ as, task });
  },
};
