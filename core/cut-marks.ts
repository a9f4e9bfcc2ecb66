import { clip } from './markdown.ts';
import { isText, type Message, type Part } from './message.ts';

/*
 * What stands in a frame in place of what fits none. It says where the rest is to be had, so whoever has a message that was
 * told can see whether that is all of it.
 */

export const CUT_MARK = '\n\n… (shortened here; GetTask has the whole text)';
/** The same where nothing is left to stand before it. */
export const ALONE_MARK = CUT_MARK.trim();
const PLACEHOLDER_END = ' is too large for the stream; GetTask has it]';

/** What a frame shows in place of a part that cannot be cut and fits no frame. */
export function placeholderOf(part: Part): { readonly text: string } {
  const kind = 'raw' in part ? 'file' : 'data' in part ? 'data' : 'part';
  const name = part.filename ? ` ${clip(part.filename, 200)}` : '';
  const type = part.mediaType ? ` (${clip(part.mediaType, 100)})` : '';
  return { text: `[${kind}${name}${type}${PLACEHOLDER_END}` };
}

/**
 * False: no part of this message was left out to fit a frame. True says nothing, since anybody may write these words. Only
 * parts are marked: metadata of a message, which those of agents do not have, goes without a word.
 */
export function mayBeCut({ parts }: Message): boolean {
  return parts.some((part) => isText(part) && (part.text.endsWith(ALONE_MARK) || part.text.endsWith(PLACEHOLDER_END)));
}
