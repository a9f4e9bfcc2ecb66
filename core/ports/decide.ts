import type { Owner } from '../principal.ts';
import type { TaskState } from '../task.ts';

/** What a decide function was made of: its name among the rules (core/decide/rules.ts) and plain data. */
export interface RuleCall {
  readonly name: string;
  readonly data: unknown;
}

/** A commit brought a task to another state. */
export interface Transition {
  readonly taskId: string;
  readonly contextId: string;
  readonly owner: Owner;
  readonly from: TaskState;
  readonly to: TaskState;
  /** The turn that begins with it, claimed or with its acceptance. */
  readonly turn?: { readonly ordinal: number; readonly attempt: number; readonly trace?: string };
}

export interface Decide<View extends readonly unknown[], Result> {
  (...view: View): Result;
  /** A store that runs in another thread makes the function anew from this, and takes none without. */
  readonly rule?: RuleCall;
  /** Hears, after the commit and before the promise resolves, of every task that came from one state to another. */
  readonly moved?: (transition: Transition) => void;
}
