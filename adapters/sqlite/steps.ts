import type { Json } from '../../core/message.ts';
import type { Connection, Query } from './database.ts';

const SELECT_STEP = 'select result from step where task = ? and ordinal = ? and key = ?';
/** Started again after a crash: the first result still wins, the attempt says who is at it now. */
const START_STEP = `insert into step (task, ordinal, key, attempt, started_at) values (?, ?, ?, ?, ?)
  on conflict (task, ordinal, key) do update set attempt = excluded.attempt, started_at = excluded.started_at`;
const FINISH_STEP = `insert into step (task, ordinal, key, attempt, started_at, finished_at, result)
  values (?, ?, ?, ?, ?, ?, ?)
  on conflict (task, ordinal, key) do update set finished_at = excluded.finished_at, result = excluded.result`;

export interface StepKey {
  readonly task: number;
  readonly ordinal: number;
  readonly key: string;
  readonly attempt: number;
}

export interface Steps {
  begin(step: StepKey, now: number): { readonly value: Json } | undefined;
  end(step: StepKey, value: Json, now: number): Json;
}

export function createSteps(connection: Connection): Steps {
  const select: Query<[task: number, ordinal: number, key: string], { result: string | null }> =
    connection.prepare(SELECT_STEP);
  const start: Query<[task: number, ordinal: number, key: string, attempt: number, startedAt: number], unknown> =
    connection.prepare(START_STEP);
  const finish: Query<
    [
      ...[task: number, ordinal: number, key: string, attempt: number],
      ...[startedAt: number, finishedAt: number, result: string],
    ],
    unknown
  > = connection.prepare(FINISH_STEP);

  function stored(step: StepKey): { readonly value: Json } | undefined {
    const result = select.get(step.task, step.ordinal, step.key)?.result;
    return result === undefined || result === null ? undefined : { value: JSON.parse(result) as Json };
  }

  return {
    begin(step, now) {
      const known = stored(step);
      if (!known) start.run(step.task, step.ordinal, step.key, step.attempt, now);
      return known;
    },
    end(step, value, now) {
      const known = stored(step);
      if (known) return known.value;
      const result = JSON.stringify(value);
      finish.run(step.task, step.ordinal, step.key, step.attempt, now, now, result);
      return JSON.parse(result) as Json;
    },
  };
}
