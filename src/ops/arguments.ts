import { parseArgs } from 'node:util';

/** A wrong command line: printed with where to find the usage, exit 64. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const OPTIONS = {
  database: TEXT,
  as: TEXT,
  reason: TEXT,
  tenant: TEXT,
  principal: TEXT,
  context: TEXT,
  state: TEXT,
  outcome: TEXT,
  limit: TEXT,
  'deadline-minutes': TEXT,
  again: FLAG,
  texts: FLAG,
  json: FLAG,
  help: { ...FLAG, short: 'h' },
} as const;

export type OptionName = keyof typeof OPTIONS;

/** The words and options of a command line, as they were given. */
export interface Arguments {
  readonly words: readonly string[];
  readonly given: readonly OptionName[];
  /** Undefined when it was not given; blank is an error. */
  text(name: OptionName): string | undefined;
  flag(name: OptionName): boolean;
  /** A whole number from 1 to `max`. */
  number(name: OptionName, fallback: number, max: number): number;
  choice<const T extends string>(name: OptionName, choices: readonly T[]): T | undefined;
}

export function readArguments(argv: readonly string[]): Arguments {
  const { values, positionals } = parse(argv);

  function text(name: OptionName): string | undefined {
    const value = values[name];
    if (typeof value !== 'string') return undefined;
    if (value.trim() === '') throw new UsageError(`--${name} is blank`);
    return value;
  }

  return {
    words: positionals,
    given: Object.keys(values) as OptionName[],
    text,
    flag: (name) => values[name] === true,
    number(name, fallback, max) {
      const value = text(name);
      return value === undefined ? fallback : wholeNumber(value, `--${name}`, max);
    },
    choice(name, choices) {
      const value = text(name);
      if (value === undefined) return undefined;
      const found = choices.find((each) => each === value);
      if (found === undefined) throw new UsageError(`--${name} is one of ${choices.join(', ')}`);
      return found;
    },
  };
}

export function wholeNumber(value: string, name: string, max: number): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 1 && number <= max)) throw new UsageError(`${name} is a whole number from 1 to ${max}`);
  return number;
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
