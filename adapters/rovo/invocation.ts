import type { Message } from '../../core/message.ts';
import type { Invocation } from '../../core/ports/agent.ts';
import { readPayload } from './payload.ts';

/** What started a turn, from its stored message; undefined for a message that no user sent. */
export function invocationOf(message: Message): Invocation | undefined {
  if (message.role !== 'ROLE_USER') return undefined;
  const { agentAccountId: _, ...invocation } = readPayload(message.parts);
  return invocation;
}
