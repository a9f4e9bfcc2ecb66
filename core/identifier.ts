import { LIMITS } from './limits.ts';

/** Length in UTF-8 bytes. A lone surrogate counts as the three bytes of U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** Ids are opaque and compared byte by byte: 1 to 256 bytes, no control characters, no lone surrogates, not blank. */
export function isStorableId(id: string): boolean {
  if (id.length > LIMITS.idBytes || id.trim() === '') return false;
  for (const character of id) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code <= 0xdfff)) return false;
  }
  return utf8Length(id) <= LIMITS.idBytes;
}
