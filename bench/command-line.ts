import { open, readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { BenchOptions } from './options.ts';
import type { Figures } from './scenario.ts';

/** A wrong command line: said in one line, with the usage below it. */
export class UsageError extends Error {}

/** Figures by scenario, as `--save` writes them. */
export type Saved = Readonly<Record<string, Figures>>;

export interface CommandLine {
  readonly help: boolean;
  /** Scenarios to run; empty: all. */
  readonly names: readonly string[];
  readonly options: BenchOptions;
  readonly save: string | undefined;
  readonly before: Saved | undefined;
}

const SECONDS = 3;
const FLOOD_SECONDS = 60;
const OPTIONS = {
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string' },
  at: { type: 'string', default: '1,16,64' },
  save: { type: 'string' },
  against: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    // Its texts go on with advice about dashes, which nobody needs here.
    throw new UsageError((error instanceof Error ? error.message : String(error)).split('. ')[0]);
  }
}

function whole(text: string, what: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError(`${what} from 1 on, not "${text}"`);
  return Number(text);
}

function duration(text: string): number {
  const seconds = Number(text);
  if (text.trim() === '' || !Number.isFinite(seconds) || seconds <= 0) {
    throw new UsageError(`--seconds is a number above 0, not "${text}"`);
  }
  return seconds;
}

function isSaved(value: unknown): value is Saved {
  const isObject = (each: unknown) => typeof each === 'object' && each !== null && !Array.isArray(each);
  return (
    isObject(value) &&
    Object.values(value as object).every(
      (figures) => isObject(figures) && Object.values(figures).every((figure) => typeof figure === 'number'),
    )
  );
}

async function saved(file: string): Promise<Saved> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--against ${file}: it cannot be read (${error.code})`);
  });
  try {
    const value: unknown = JSON.parse(text);
    if (isSaved(value)) return value;
  } catch {}
  throw new UsageError(`--against ${file}: these are no figures that --save wrote`);
}

/** Throws UsageError, before so long a measurement and not after it. */
export async function readCommandLine(args: readonly string[], known: readonly string[]): Promise<CommandLine> {
  const { values, positionals: names } = parse(args);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0 && !values.help) throw new UsageError(`there is no scenario ${unknown.join(', ')}`);
  const options = {
    rounds: whole(values.rounds, '--rounds is a whole number'),
    seconds: duration(values.seconds ?? String(SECONDS)),
    floodSeconds: duration(values.seconds ?? String(FLOOD_SECONDS)),
    concurrencies: values.at.split(',').map((each) => whole(each.trim(), '--at is a list of whole numbers')),
  };
  const before = values.against === undefined ? undefined : await saved(values.against);
  const { help, save } = values;
  if (save !== undefined && !help) {
    const file = await open(save, 'a').catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`--save ${save}: it cannot be written (${error.code})`);
    });
    await file.close();
  }
  return { help, names, options, save, before };
}
