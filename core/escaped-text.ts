/*
 * Sizes of JSON as it goes out on a stream: JSON.stringify, and then U+2028, U+2029 and U+0085 escaped as well, because
 * some clients end a line there.
 */

const LINE_BREAK = /[\u0085\u2028\u2029]/;

function isLineBreak(code: number): boolean {
  return code === 0x2028 || code === 0x2029 || code === 0x85;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Of one UTF-16 unit that is no half of a pair. */
function escapedWidth(code: number): number {
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20) return code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 2 : 6;
  return isLineBreak(code) || isHigh(code) || isLow(code) ? 6 : 1;
}

/** Length of a JSON value once serialised and escaped for a stream. */
export function escapedLength(value: unknown): number {
  const json = JSON.stringify(value) ?? '';
  // Nearly no text has one, and the engine's own search is many times faster than a loop.
  if (!LINE_BREAK.test(json)) return json.length;
  let length = json.length;
  for (let index = 0; index < json.length; index += 1) {
    if (isLineBreak(json.charCodeAt(index))) length += 5;
  }
  return length;
}

/** Cuts text into pieces of at most `budget` escaped characters, never inside a surrogate pair. `''` gives one piece. */
export function splitText(text: string, budget: number): readonly string[] {
  if (text.length * 6 <= budget) return [text];
  const pieces: string[] = [];
  let start = 0;
  let used = 0;
  for (let index = 0; index < text.length; ) {
    const code = text.charCodeAt(index);
    const pair = isHigh(code) && isLow(text.charCodeAt(index + 1));
    const width = pair ? 2 : escapedWidth(code);
    if (used + width > budget && index > start) {
      pieces.push(text.slice(start, index));
      start = index;
      used = 0;
    }
    used += width;
    index += pair ? 2 : 1;
  }
  pieces.push(text.slice(start));
  return pieces;
}
