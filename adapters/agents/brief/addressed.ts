import type { Json, Message } from '../../../core/message.ts';
import type { Comment, Mention, Turn } from '../../../core/ports/agent.ts';

/*
 * Whom a comment talks to. One that calls the agent was answered by the agent when it was written; a brief that lists
 * it as an open question would ask people to do the agent's work.
 */

function calledBy(comment: Comment): readonly Mention[] {
  return comment.mentions ?? [];
}

function accountIn(data: Json | undefined): readonly string[] {
  if (typeof data !== 'object' || data === null || !('agentAccountId' in data)) return [];
  return typeof data.agentAccountId === 'string' ? [data.agentAccountId] : [];
}

const accountsIn = ({ parts }: Message): readonly string[] =>
  parts.flatMap((part) => ('data' in part ? accountIn(part.data) : []));

/** Our own accounts, as far as Jira has named them in this task. In a chat it does not. */
export function ownAccounts(turn: Turn): ReadonlySet<string> {
  return new Set([...(turn.task.history ?? []), turn.message].flatMap(accountsIn));
}

/** Does it call us? Without knowing our account: does it call any app, which is no question to people either. */
export function isToAgent(comment: Comment, own: ReadonlySet<string>): boolean {
  return calledBy(comment).some(({ id, app }) => app || own.has(id));
}

/** A sentence without the names it begins with: `Bob Okafor is Friday fine?` asks `is Friday fine?`. */
export function withoutCall(sentence: string, comment: Comment): string {
  const names = calledBy(comment).flatMap(({ name }) => (name === '' ? [] : [name]));
  let rest = sentence;
  for (let name = names.find((one) => rest.startsWith(one)); name; name = names.find((one) => rest.startsWith(one))) {
    rest = rest.slice(name.length).replace(/^[\s,:;–—-]+/, '');
  }
  return /\p{L}/u.test(rest) ? rest : sentence;
}
