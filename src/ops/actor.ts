import { userInfo } from 'node:os';
import type { Act } from '../../core/ports/operator-store.ts';
import { type Arguments, UsageError } from './arguments.ts';

const ACTOR_MAX = 200;
const REASON_MAX = 1_000;

function account(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that no account has.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function short(args: Arguments, name: 'as' | 'reason', max: number): string | undefined {
  const text = args.text(name);
  if (text !== undefined && text.length > max) throw new UsageError(`--${name} is longer than ${max} characters`);
  return text;
}

/** Who acts: the name that was given beside the account, or the account alone. */
export function readAct(args: Arguments): Act {
  const name = short(args, 'as', ACTOR_MAX);
  const reason = short(args, 'reason', REASON_MAX);
  return {
    ...(name === undefined ? { actor: account() } : { actor: name, account: account() }),
    ...(reason === undefined ? {} : { reason }),
  };
}
