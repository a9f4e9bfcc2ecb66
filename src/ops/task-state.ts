import { TASK_STATES, type TaskState } from '../../core/task.ts';

export function shortState(state: TaskState): string {
  return state.slice('TASK_STATE_'.length);
}

/** As people type it. */
export const STATE_NAMES: readonly string[] = TASK_STATES.map((state) =>
  shortState(state).toLowerCase().replaceAll('_', '-'),
);

/** `working`, `input-required`, also the specification's spelling. */
export function parseState(name: string): TaskState | undefined {
  const upper = name.toUpperCase().replaceAll('-', '_');
  return TASK_STATES.find((state) => state === upper || shortState(state) === upper);
}
