import { placeholderOf } from '../cut-marks.ts';
import { isText, type Part } from '../message.ts';

/*
 * Compares the parts of an artifact as they are stored with those that its events showed. Both are cut differently (a
 * frame holds only so much, an append continues a text), so text is compared as one stream of characters between the
 * parts that are no text; and one of those that no frame could hold was shown as a text that names it.
 */

export interface ShownParts {
  /** Does what was shown go on with this part? After a false the rest means nothing. */
  next(stored: Part): boolean;
  /** Nothing more was shown than what was stored. */
  ended(): boolean;
}

export function readShownParts(shown: readonly Part[]): ShownParts {
  let index = 0;
  /** In the text part at `index`. */
  let offset = 0;

  /** The part to compare with, behind texts that are used up. */
  function current(): Part | undefined {
    for (;;) {
      const part = shown[index];
      if (!part || !isText(part) || offset < part.text.length) return part;
      index += 1;
      offset = 0;
    }
  }

  function nextText(text: string): boolean {
    for (let read = 0; read < text.length; ) {
      const part = current();
      if (!part || !isText(part)) return false;
      const length = Math.min(text.length - read, part.text.length - offset);
      if (part.text.slice(offset, offset + length) !== text.slice(read, read + length)) return false;
      offset += length;
      read += length;
    }
    return true;
  }

  function nextOther(stored: Part): boolean {
    const part = current();
    if (!part) return false;
    const same = isText(part)
      ? offset === 0 && part.text === placeholderOf(stored).text
      : JSON.stringify(part) === JSON.stringify(stored);
    if (!same) return false;
    index += 1;
    offset = 0;
    return true;
  }

  return {
    next: (stored) => (isText(stored) ? nextText(stored.text) : nextOther(stored)),
    ended: () => current() === undefined,
  };
}
