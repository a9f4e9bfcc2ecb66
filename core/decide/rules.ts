import type { JsonObject } from '../message.ts';
import type { Decide, RuleCall } from '../ports/decide.ts';
import type { AcceptView, Change, TaskView } from '../ports/task-store.ts';
import { type ArtifactCommand, decideArtifact, type Writer } from './artifact.ts';
import { decideBegin, decideCancel, decideExpire, decideResume } from './end.ts';
import { decideSend, type SendCommand } from './send.ts';
import type { Saying } from './status.ts';
import {
  closeTaken,
  decideEnd,
  decideFail,
  decideGiveBack,
  decidePark,
  decideProgress,
  type EndCommand,
  type FailCommand,
  type ParkCommand,
} from './turn.ts';

/*
 * Every rule by its name, each a function of what the store shows and of plain data. A store may run in another thread,
 * and a function cannot go there; its name and its data can.
 */

interface OfTurn {
  readonly writer: Writer;
  /** Messages that the inbox handed over since the last commit. */
  readonly taken: readonly number[];
}

const RULES = {
  send: (view: AcceptView, command: SendCommand) => decideSend(view, command),
  cancel: (view: TaskView) => decideCancel(view),
  expire: (view: TaskView, { messageId }: { readonly messageId: string }) => decideExpire(view, messageId),
  begin: (view: TaskView, { idPrefix }: { readonly idPrefix: string }) =>
    // One claim begins many turns, and each may need an id of its own.
    decideBegin(view, `${idPrefix}-${view.record.id}`),
  resume: (view: TaskView, { tokenHash }: { readonly tokenHash: string }) => decideResume(view, tokenHash),
  look: (_view: TaskView) => undefined,
  progress: (
    view: TaskView,
    { writer, taken, saying, metadata }: OfTurn & { readonly saying?: Saying; readonly metadata?: JsonObject },
  ): Change => ({
    executions: closeTaken(view, writer, taken),
    ...decideProgress(view, saying, metadata),
  }),
  chunk: (view: TaskView, { writer, taken, command }: OfTurn & { readonly command: ArtifactCommand }): Change => {
    const change = decideArtifact(view, writer, command);
    return taken.length > 0 ? { ...change, executions: closeTaken(view, writer, taken) } : change;
  },
  end: (view: TaskView, { writer, command }: { readonly writer: Writer; readonly command: EndCommand }) =>
    decideEnd(view, writer, command),
  fail: (view: TaskView, { writer, command }: { readonly writer: Writer; readonly command: FailCommand }) =>
    decideFail(view, writer, command),
  park: (view: TaskView, { writer, command }: { readonly writer: Writer; readonly command: ParkCommand }) =>
    decidePark(view, writer, command),
  giveBack: (view: TaskView, { writer, taken }: OfTurn) => decideGiveBack(view, writer, taken),
} as const;

type Rules = typeof RULES;
export type RuleName = keyof Rules;
type View<N extends RuleName> = Parameters<Rules[N]>[0];
type Data<N extends RuleName> = Parameters<Rules[N]> extends [unknown, infer D] ? D : undefined;
type Rule = (view: unknown, data: unknown) => unknown;

/** The rule with its data, for a write of the store. */
export function rule<N extends RuleName>(name: N, data: Data<N>): Decide<[view: View<N>], ReturnType<Rules[N]>> {
  return made({ name, data }) as Decide<[view: View<N>], ReturnType<Rules[N]>>;
}

/** The function that `call` names. Throws TypeError when there is none. */
export function ruleOf(call: RuleCall): Decide<[view: never], unknown> {
  if (!Object.hasOwn(RULES, call.name)) throw new TypeError(`there is no rule ${call.name}`);
  return made(call);
}

function made(call: RuleCall): Decide<[view: never], unknown> {
  const decide = RULES[call.name as RuleName] as Rule;
  return Object.assign((view: unknown) => decide(view, call.data), { rule: call });
}
