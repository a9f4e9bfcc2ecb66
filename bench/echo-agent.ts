import { textOf } from '../core/message.ts';
import type { Agent } from '../core/ports/agent.ts';

/** Submitted, working (the service says both), completed with the text back: the same events as bench/peers/sdk-echo.ts. */
export const agent: Agent = {
  recovery: 'rerun',
  run: async function* ({ message }) {
    yield { state: 'TASK_STATE_COMPLETED', message: `echo: ${textOf(message.parts)}` };
  },
};
