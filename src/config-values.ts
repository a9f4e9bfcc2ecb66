import { z } from 'zod';

/*
 * What a value of the configuration may look like. Every schema takes the text of one variable and fails with one
 * message that says what to set instead, as the object of "set …".
 */

/** The longest delay that a timer of Node takes; beyond it the timer fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Accepts the text when `read` makes something of it. */
function parsed<T>(expected: string, read: (text: string) => T | undefined) {
  return z.string().transform((text, context) => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: expected });
    return z.NEVER;
  });
}

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Names and addresses that only this machine reaches; not `*.localhost`, which a resolver may send elsewhere. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name);
}

export function whole(min: number, max: number, unit = '') {
  const expected = `a whole number${unit && ` of ${unit}`} from ${min} to ${max}, digits only`;
  return parsed(expected, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

export function durationMs(min = 1, max = MAX_TIMER_MS) {
  return whole(min, max, 'milliseconds');
}

export function choice<const T extends string>(...values: readonly T[]) {
  return parsed(values.join(' or '), (text) => values.find((value) => value === text));
}

export function onOff() {
  return choice('on', 'off').transform((value) => value === 'on');
}

export function matching(pattern: RegExp, expected: string) {
  return parsed(expected, (text) => (pattern.test(text) ? text : undefined));
}

/** Comma list without blanks and doubles; at least one item, each passing `item`. */
export function list<T>(item: z.ZodType<T, string>, expected: string) {
  return parsed(expected, (text) => {
    const items = text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => item.safeParse(part));
    const values = items.flatMap((result) => (result.success ? [result.data] : []));
    return values.length > 0 && values.length === items.length ? [...new Set(values)] : undefined;
  });
}

/** Answers it without a slash at the end, so that paths can be put behind it. */
export function publicUrl() {
  return parsed('an http or https URL without user, query and fragment', (text) => {
    const url = urlOf(text);
    const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
    return plain ? url.href.replace(/\/+$/, '') : undefined;
  });
}

/** As gRPC clients take it: a name or an address, and a port. */
export function hostAndPort() {
  return parsed('host:port without a scheme, for example agent.example.com:443', (text) => {
    const [, host = '', port] = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})$/.exec(text) ?? [];
    return Number(port) >= 1 && Number(port) <= 65_535 && URL.canParse(`http://${host}`)
      ? text.toLowerCase()
      : undefined;
  });
}

export function httpsUrl() {
  return parsed('an https URL', (text) => {
    const url = urlOf(text);
    return url?.protocol === 'https:' && !url.username && !url.password ? url.href : undefined;
  });
}

/** Keys that decide whom we trust are never fetched in clear over a network. */
export function keySetUrl() {
  return parsed('an https URL (http only on loopback)', (text) => {
    const url = urlOf(text);
    if (!url || url.username || url.password) return undefined;
    return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)) ? url.href : undefined;
  });
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const APP_ARI = 'ari:cloud:ecosystem::app/';

/** Full ARI or bare uuid in; the full ARI out, which is the audience that tokens are verified against. */
export function forgeAppId() {
  return parsed(`the app id of manifest.yml: ${APP_ARI}<uuid>, or the uuid alone`, (text) => {
    const lower = text.toLowerCase();
    const uuid = lower.startsWith(APP_ARI) ? lower.slice(APP_ARI.length) : lower;
    return UUID.test(uuid) ? `${APP_ARI}${uuid}` : undefined;
  });
}

/** 32 bytes as base64 or base64url. */
export function sealingKey() {
  return parsed('32 random bytes as base64', (text) => {
    if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
    const bytes = new Uint8Array(Buffer.from(text, 'base64'));
    return bytes.length === 32 ? bytes : undefined;
  });
}

export interface Database {
  readonly kind: 'sqlite';
  /** Relative to the working directory, or absolute. */
  readonly path: string;
}

export function database() {
  return z.string().transform((text, context): Database => {
    const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(text)?.[1];
    if (path !== undefined && !path.startsWith('//') && !path.startsWith(':')) return { kind: 'sqlite', path };
    const message = /^postgres(ql)?:/.test(text)
      ? 'sqlite:<path>: PostgreSQL is not available in this version'
      : 'sqlite:<path of a file>, for example sqlite:./data/connector.db';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** Only its form; whether the module is there and holds an agent shows when it is loaded. */
export function agentSource() {
  return matching(/^(brief|module:\s*\S.*)$/, 'brief, or module:<path of a module that exports an agent>');
}
