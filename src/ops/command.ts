import type { OperateDeps } from '../../core/operations/operate.ts';
import type { Act } from '../../core/ports/operator-store.ts';
import type { TaskStore } from '../../core/ports/task-store.ts';
import type { Arguments, OptionName } from './arguments.ts';

/** What a command works with. */
export interface Session extends OperateDeps {
  readonly store: TaskStore;
  readonly act: Act;
}

/** What a command has to say: for people, and for programs. */
export interface Shown {
  readonly text: string;
  readonly json: unknown;
  /** For people only, on standard error. */
  readonly note?: string;
}

export interface Command {
  /** Names of the words behind noun and verb; those with `?` may be left out. */
  readonly words?: readonly string[];
  /** Options besides those that every command has. */
  readonly options?: readonly OptionName[];
  /** It changes something, so `--as` and `--reason` belong to it. */
  readonly acts?: true;
  /** Reads the rest of the command line, which may be wrong, before any database is opened. */
  readonly prepare: (args: Arguments) => (session: Session) => Promise<Shown>;
}
