import { nearestName } from '../../core/nearest-name.ts';
import { type Arguments, type OptionName, UsageError } from './arguments.ts';
import { audit } from './audit.ts';
import type { Command } from './command.ts';
import { erase } from './erase.ts';
import { executions } from './executions.ts';
import { runner } from './runner.ts';
import { tasks } from './tasks.ts';
import { tenants } from './tenants.ts';

const COMMANDS: Readonly<Record<string, Command | Readonly<Record<string, Command>>>> = {
  executions,
  tasks,
  tenants,
  erase,
  runner,
  audit,
};
const EVERYWHERE: readonly OptionName[] = ['database', 'json', 'help'];
const OF_ACTS: readonly OptionName[] = ['as', 'reason'];

/** Edits between what was said and what was probably meant. */
const SLIP = 2;

interface Found {
  readonly command: Command;
  /** What is left behind its name. */
  readonly args: Arguments;
}

function isCommand(entry: Command | Readonly<Record<string, Command>>): entry is Command {
  return typeof entry.prepare === 'function';
}

function own<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** The command that the words name, and that they and the options fit it. Throws UsageError. */
export function findCommand(args: Arguments): Found {
  const [noun, verb] = args.words;
  if (noun === undefined) throw new UsageError('what is to be done?');
  const entry = own(COMMANDS, noun);
  if (!entry) throw new UsageError(`there is no ${noun}: ${instead(noun, Object.keys(COMMANDS), verb)}`);
  if (isCommand(entry)) return checked(noun, entry, { ...args, words: args.words.slice(1) });
  const command = own(entry, verb ?? '');
  if (!command) {
    const verbs = Object.keys(entry);
    throw new UsageError(
      verb === undefined ? `${noun}: say ${verbs.join(', ')}` : `${noun} has no ${verb}: ${instead(verb, verbs)}`,
    );
  }
  return checked(`${noun} ${verb}`, command, { ...args, words: args.words.slice(2) });
}

function instead(word: string, known: readonly string[], rest?: string): string {
  const { candidate, distance } = nearestName(word, known);
  if (distance > SLIP) return `say ${known.join(', ')}`;
  return `did you mean ${[candidate, ...(rest === undefined ? [] : [rest])].join(' ')}?`;
}

function checked(name: string, command: Command, args: Arguments): Found {
  const words = command.words ?? [];
  const needed = words.filter((word) => !word.endsWith('?'));
  if (args.words.length < needed.length) throw new UsageError(`${name} needs ${needed[args.words.length]}`);
  if (args.words.length > words.length) throw new UsageError(`${name} takes no ${args.words[words.length]}`);
  if (args.words.some((word) => word.trim() === '')) throw new UsageError(`${name}: a blank word`);
  const allowed = [...EVERYWHERE, ...(command.options ?? []), ...(command.acts ? OF_ACTS : [])];
  const other = args.given.find((option) => !allowed.includes(option));
  if (other) throw new UsageError(`${name} takes no --${other}`);
  return { command, args };
}
