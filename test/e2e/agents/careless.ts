import type { Agent } from '../../../core/ports/agent.ts';

/** Leaves rejections behind that nobody handles and nobody can print, then answers. */
export const agent: Agent = {
  run: async function* () {
    void Promise.reject(Object.create(null));
    void Promise.reject(Object.assign(new Error('odd'), { message: { not: 'a text' } }));
    await new Promise((resolve) => setImmediate(resolve));
    yield { state: 'TASK_STATE_COMPLETED', message: 'still here' };
  },
};
