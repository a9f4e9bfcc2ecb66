import { parseArgs } from 'node:util';

/** A wrong command line: said with a hint where the usage is, exit code 64. */
export class UsageError extends Error {}

export const HELP_HINT = 'npm run simulator -- --help lists the commands and options';

/** Those that go to the simulator that serves. */
export const SENT_COMMANDS = [
  'assign',
  'mention',
  'chat',
  'automation',
  'get',
  'cancel',
  'subscribe',
  'install',
  'upgrade',
  'uninstall',
  'token',
  'rotate-keys',
  'outage',
] as const;
export type SentCommand = (typeof SENT_COMMANDS)[number];
export type Command = 'serve' | 'check' | SentCommand;
const COMMANDS: readonly Command[] = ['serve', 'check', ...SENT_COMMANDS];

export interface Arguments {
  readonly command: Command;
  /** What stands after the command: a work item's key, a text. */
  readonly words: readonly string[];
  readonly url: string;
  readonly as: string | undefined;
  readonly site: string | undefined;
  readonly contextId: string | undefined;
  readonly messageId: string | undefined;
  readonly stream: boolean;
  readonly cutAfter: number | undefined;
  readonly userToken: 'current' | 'fresh' | 'none' | undefined;
  readonly timeScale: number;
  readonly jwksPort: number;
  readonly sitePort: number;
  readonly controlPort: number;
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly quick: boolean;
  readonly json: boolean;
  /** Answers in whole. */
  readonly full: boolean;
  readonly help: boolean;
}

export const DEFAULT_URL = 'http://127.0.0.1:8080/rovo/a2a';
export const DEFAULT_PORTS = { jwks: 8091, site: 8092, control: 8093 } as const;

const OPTIONS = {
  url: { type: 'string' },
  as: { type: 'string' },
  site: { type: 'string' },
  context: { type: 'string' },
  'message-id': { type: 'string' },
  stream: { type: 'boolean' },
  'cut-after': { type: 'string' },
  'user-token': { type: 'string' },
  'time-scale': { type: 'string' },
  'jwks-port': { type: 'string' },
  'site-port': { type: 'string' },
  'control-port': { type: 'string' },
  only: { type: 'string', multiple: true },
  skip: { type: 'string', multiple: true },
  quick: { type: 'boolean' },
  json: { type: 'boolean' },
  full: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

function number(text: string | undefined, name: string, min: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < min)
    throw new UsageError(`--${name} is a number of at least ${min}`);
  return value;
}

function port(text: string | undefined, name: string, fallback: number): number {
  const value = number(text, name, 0) ?? fallback;
  if (!Number.isInteger(value) || value > 65_535) throw new UsageError(`--${name} is a port`);
  return value;
}

function tokenChoice(text: string | undefined): Arguments['userToken'] {
  if (text === undefined || text === 'current' || text === 'fresh' || text === 'none') return text;
  throw new UsageError('--user-token is current, fresh or none');
}

const names = (values: readonly string[] | undefined): readonly string[] =>
  (values ?? []).flatMap((value) => value.split(','));

function commandOf(word: string): Command {
  const command = COMMANDS.find((known) => known === word);
  if (command === undefined) throw new UsageError(`there is no command ${word}; there are ${COMMANDS.join(', ')}`);
  return command;
}

/** What holds for options that are not given: `serve` knows better than the built-in values. */
export interface Defaults {
  readonly url?: string;
  readonly timeScale?: number;
}

/** Throws UsageError. */
export function readArguments(argv: readonly string[], defaults: Defaults = {}): Arguments {
  const { values, positionals } = parse(argv);
  const [word = 'serve', ...words] = positionals;
  const help = values.help ?? false;
  const command = help ? 'serve' : commandOf(word);
  if (values.url !== undefined && !URL.canParse(values.url)) throw new UsageError('--url is the URL of the agent');
  return {
    command,
    words,
    url: values.url ?? defaults.url ?? DEFAULT_URL,
    as: values.as,
    site: values.site,
    contextId: values.context,
    messageId: values['message-id'],
    stream: values.stream ?? false,
    cutAfter: number(values['cut-after'], 'cut-after', 1),
    userToken: tokenChoice(values['user-token']),
    timeScale: number(values['time-scale'], 'time-scale', 1) ?? defaults.timeScale ?? 1,
    jwksPort: port(values['jwks-port'], 'jwks-port', DEFAULT_PORTS.jwks),
    sitePort: port(values['site-port'], 'site-port', DEFAULT_PORTS.site),
    controlPort: port(values['control-port'], 'control-port', DEFAULT_PORTS.control),
    only: names(values.only),
    skip: names(values.skip),
    quick: values.quick ?? false,
    json: values.json ?? false,
    full: values.full ?? false,
    help,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // The first sentence; what follows is about quoting positional arguments.
    throw new UsageError((error instanceof Error ? error.message : String(error)).split('. ')[0] ?? '');
  }
}
