import type { TenantEntry } from '../../core/ports/operator-store.ts';
import type { Command } from './command.ts';
import { tenantJson } from './json-shapes.ts';
import { counted, table, time } from './table.ts';

function rowOf({ id, status, pausedAt, removedAt, tasks, live }: TenantEntry): readonly string[] {
  const state =
    status === 'removed'
      ? `removed ${time(removedAt)}`
      : pausedAt === undefined
        ? 'active'
        : `paused since ${time(pausedAt)}`;
  return [id, state, String(live), String(tasks)];
}

const list: Command = {
  prepare: () => async (session) => {
    const entries = await session.operator.tenants();
    return {
      text: table(['TENANT', 'STATE', 'LIVE TASKS', 'TASKS'], entries.map(rowOf), 'no tenants'),
      json: entries.map(tenantJson),
    };
  },
};

function switching(method: 'pauseTenant' | 'resumeTenant', done: string, before: string): Command {
  return {
    words: ['<tenant>'],
    acts: true,
    prepare: (args) => {
      const [tenant = ''] = args.words;
      return async ({ operator, act }) => {
        const changed = await operator[method](act, tenant);
        return { text: `${changed ? done : before}\n`, json: { tenant, paused: method === 'pauseTenant', changed } };
      };
    },
  };
}

const erase: Command = {
  words: ['<tenant>'],
  acts: true,
  prepare: (args) => {
    const [tenant = ''] = args.words;
    return async ({ operator, act }) => {
      const tasks = await operator.eraseTenant(act, tenant);
      return { text: `removed, ${counted(tasks, 'task')} erased\n`, json: { tenant, status: 'removed', tasks } };
    };
  },
};

const restore: Command = {
  words: ['<tenant>'],
  acts: true,
  prepare: (args) => {
    const [tenant = ''] = args.words;
    return async ({ operator, act }) => {
      const changed = await operator.restoreTenant(act, tenant);
      const text = changed ? 'restored, empty: its callers are let in again\n' : 'it is not removed\n';
      return { text, json: { tenant, status: 'active', changed } };
    };
  },
};

export const tenants = {
  list,
  pause: switching('pauseTenant', 'paused', 'it is paused already'),
  resume: switching('resumeTenant', 'resumed', 'it is not paused'),
  erase,
  restore,
} satisfies Record<string, Command>;
