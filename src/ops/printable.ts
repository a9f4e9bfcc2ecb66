/*
 * Ids, errors and texts come from callers and agents. What reaches a terminal holds no control characters, or it could
 * steer it; what is one cell of a table holds no line breaks either.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
const CONTROL_WITHIN_TEXT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;

export function printable(text: string): string {
  return text.replace(CONTROL, '\uFFFD');
}

/** Keeps line feeds and tabs. */
export function printableText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROL_WITHIN_TEXT, '\uFFFD');
}

/** JSON escapes those below U+0020 by itself. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(
    CONTROL_WITHIN_TEXT,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
