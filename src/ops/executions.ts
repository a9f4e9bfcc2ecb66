import { closeExecution, retryExecution } from '../../core/operations/operate.ts';
import type { ExecutionEntry } from '../../core/ports/operator-store.ts';
import { withoutCredentials } from '../without-credentials.ts';
import { type Arguments, wholeNumber } from './arguments.ts';
import type { Command } from './command.ts';
import { executionJson } from './json-shapes.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, page } from './page.ts';
import { table, time } from './table.ts';
import { doing } from './turn-text.ts';

const DEADLINE_MINUTES = 60;
const DEADLINE_MINUTES_MAX = 30 * 24 * 60;

function rowOf(outcome: 'dead' | 'open', entry: ExecutionEntry): readonly string[] {
  const { taskId, ordinal, attempts, owner, openedAt, endedAt, error = '-', retriedAs = '-' } = entry;
  const start = [taskId, String(ordinal), String(attempts), owner.tenant];
  return outcome === 'dead'
    ? [...start, time(endedAt ?? openedAt), retriedAs, withoutCredentials(error)]
    : [...start, time(openedAt), doing(entry)];
}

const HEADINGS = {
  dead: ['TASK', 'TURN', 'ATTEMPTS', 'TENANT', 'FAILED', 'RETRIED AS', 'ERROR'],
  open: ['TASK', 'TURN', 'ATTEMPTS', 'TENANT', 'OPENED', 'NOW'],
} as const;

const list: Command = {
  options: ['outcome', 'tenant', 'limit'],
  prepare(args) {
    const outcome = args.choice('outcome', ['dead', 'open']) ?? 'dead';
    const tenant = args.text('tenant');
    const limit = args.number('limit', LIMIT_DEFAULT, LIMIT_MAX);
    return async ({ operator }) => {
      const entries = await operator.executions({ outcome, limit: limit + 1, ...(tenant ? { tenant } : {}) });
      return page(entries, limit, {
        text: (shown) => {
          const rows = shown.map((entry) => rowOf(outcome, entry));
          return table(HEADINGS[outcome], rows, `no ${outcome} executions`);
        },
        json: executionJson,
      });
    };
  },
};

function turnOf(args: Arguments): { readonly taskId: string; readonly ordinal?: number } {
  const [taskId = '', turn] = args.words;
  return { taskId, ...(turn === undefined ? {} : { ordinal: wholeNumber(turn, '<turn>', 1_000_000) }) };
}

const retry: Command = {
  words: ['<task>', '<turn>?'],
  options: ['again', 'deadline-minutes'],
  acts: true,
  prepare(args) {
    const deadlineMs = args.number('deadline-minutes', DEADLINE_MINUTES, DEADLINE_MINUTES_MAX) * 60_000;
    const request = { ...turnOf(args), again: args.flag('again'), deadlineMs };
    return async (session) => {
      const { id } = await retryExecution(session, session.act, request);
      return { text: `retried as task ${id}\n`, json: { taskId: id, retryOf: request.taskId } };
    };
  },
};

const close: Command = {
  words: ['<task>', '<turn>?'],
  acts: true,
  prepare(args) {
    const turn = turnOf(args);
    return async (session) => {
      const { ordinal } = await closeExecution(session, session.act, turn);
      return { text: `turn ${ordinal} is closed\n`, json: { taskId: turn.taskId, ordinal, outcome: 'closed' } };
    };
  },
};

export const executions = { list, retry, close } satisfies Record<string, Command>;
