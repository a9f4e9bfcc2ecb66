import { cancelAsOperator } from '../../core/operations/operate.ts';
import { readStory } from '../../core/operations/task-story.ts';
import { OperatorRefusal } from '../../core/operator-refusal.ts';
import type { TaskRecord } from '../../core/ports/task-store.ts';
import type { TaskState } from '../../core/task.ts';
import { type Arguments, UsageError } from './arguments.ts';
import type { Command } from './command.ts';
import { taskJson } from './json-shapes.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, page } from './page.ts';
import { storyJson } from './story-json.ts';
import { storyText } from './story-text.ts';
import { table, time } from './table.ts';
import { parseState, STATE_NAMES, shortState } from './task-state.ts';

function stateOf(args: Arguments): TaskState | undefined {
  const given = args.text('state');
  if (given === undefined) return undefined;
  const state = parseState(given);
  if (!state) throw new UsageError(`--state is one of ${STATE_NAMES.join(', ')}`);
  return state;
}

function rowOf({ id, owner, contextId, status, messages, createdAt }: TaskRecord): readonly string[] {
  const state = shortState(status.state);
  const since = time(Date.parse(status.timestamp));
  return [id, state, since, time(createdAt), String(messages), owner.tenant, owner.principal, contextId];
}

const HEADINGS = ['TASK', 'STATE', 'SINCE', 'CREATED', 'MESSAGES', 'TENANT', 'PRINCIPAL', 'CONTEXT'];

const list: Command = {
  options: ['tenant', 'principal', 'context', 'state', 'limit'],
  prepare(args) {
    const [tenant, principal, contextId] = [args.text('tenant'), args.text('principal'), args.text('context')];
    const state = stateOf(args);
    const limit = args.number('limit', LIMIT_DEFAULT, LIMIT_MAX);
    const filter = {
      ...(tenant ? { tenant } : {}),
      ...(principal ? { principal } : {}),
      ...(contextId ? { contextId } : {}),
      ...(state ? { state } : {}),
    };
    return async ({ operator }) =>
      page(await operator.tasks({ ...filter, limit: limit + 1 }), limit, {
        text: (shown) => table(HEADINGS, shown.map(rowOf), 'no tasks'),
        json: (record) => taskJson(record, false),
      });
  },
};

const show: Command = {
  words: ['<task>'],
  options: ['texts'],
  prepare(args) {
    const [taskId = ''] = args.words;
    const texts = args.flag('texts');
    return async ({ operator, store }) => {
      const story = await readStory({ operator, store }, taskId);
      if (!story) throw new OperatorRefusal('UNKNOWN_TASK', `there is no task ${taskId}`);
      const { owner } = story.file.record;
      const snapshot = await store.read(owner, taskId, { artifacts: true, historyLength: 0 });
      const artifacts = snapshot?.task.artifacts ?? [];
      return { text: storyText({ ...story, artifacts }, texts), json: storyJson({ ...story, artifacts }, texts) };
    };
  },
};

const cancel: Command = {
  words: ['<task>'],
  acts: true,
  prepare(args) {
    const [taskId = ''] = args.words;
    return async (session) => {
      const { record, changed } = await cancelAsOperator(session, session.act, taskId);
      const text = changed ? 'canceled\n' : 'it was canceled before\n';
      return { text, json: { id: record.id, state: record.status.state, changed } };
    };
  },
};

export const tasks = { list, show, cancel } satisfies Record<string, Command>;
