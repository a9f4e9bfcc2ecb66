import type { Agent } from '../../../core/ports/agent.ts';

/** Waits for something that never comes and keeps nothing open: no socket, no timer. */
export const agent: Agent = {
  recovery: 'rerun',
  run: async function* () {
    await new Promise(() => undefined);
    yield { state: 'TASK_STATE_COMPLETED' };
  },
};
