import type { Command } from './command.ts';
import { withIsoTimes } from './json-shapes.ts';
import { counted, fields, time } from './table.ts';

const show: Command = {
  prepare: () => async (session) => {
    const { pausedAt } = await session.operator.runner();
    const backlog = await session.store.backlog();
    const text = fields([
      ['runner', pausedAt === undefined ? 'runs' : `paused since ${time(pausedAt)}`],
      ['waiting', `${counted(backlog.waiting, 'turn')}, the oldest for ${Math.round(backlog.oldestMs / 1_000)} s`],
      ['running', counted(backlog.leased, 'turn')],
    ]);
    return { text, json: { paused: pausedAt !== undefined, ...withIsoTimes({ pausedAt }), ...backlog } };
  },
};

function switching(method: 'pauseRunner' | 'resumeRunner', done: string, before: string): Command {
  return {
    acts: true,
    prepare: () => async (session) => {
      const changed = await session.operator[method](session.act);
      return { text: `${changed ? done : before}\n`, json: { paused: method === 'pauseRunner', changed } };
    },
  };
}

export const runner = {
  show,
  pause: switching(
    'pauseRunner',
    'paused: turns that run go on, no process takes up another one',
    'it is paused already',
  ),
  resume: switching('resumeRunner', 'resumed', 'it is not paused'),
} satisfies Record<string, Command>;
