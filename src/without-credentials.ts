/** Compact JWS and JWE, `Bearer x` and `Basic x`, Atlassian API tokens, passwords in a URL. */
const CREDENTIALS: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]{4,}(?:\.[\w-]*){1,4}/g, '[token]'],
  // Our own texts speak of "a bearer token".
  [/\b(bearer)\s+(?!token(?:\s|$))[\w.~+/=-]+/gi, '$1 [token]'],
  [/\b(basic)\s+[\w+/=-]{12,}/gi, '$1 [token]'],
  [/\bAT[A-Z]{3}[\w-]{16,}={0,2}[\w]*/g, '[token]'],
  [/(:\/\/)[^/\s@]*@/g, '$1[user]@'],
];

/** Something of every credential, found in one look: most of what is written holds none. */
const SUSPECT = /eyJ|bearer|basic|AT[A-Z]{3}|:\/\//i;

/** Without what looks like a credential. */
export function withoutCredentials(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return CREDENTIALS.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}

/** The same, and cut at `max` characters. */
export function shortText(text: string, max: number): string {
  // Cut with a margin first: the patterns never run over a whole body, and a token at the cut is still seen whole.
  const result = withoutCredentials(text.slice(0, max + 8_192));
  return result.length > max ? `${result.slice(0, max)}…` : result;
}
