import { LIMITS } from '../limits.ts';
import { isText, type Part } from '../message.ts';
import type { Artifact } from '../task.ts';

/*
 * Consecutive text chunks of one artifact become one commit: an LLM emits a word at a time, and a commit a word would
 * cost an fsync and a frame each. Only plain text appended to the same artifact merges; anything else flushes first.
 */

export interface Chunk {
  readonly artifact: Artifact;
  readonly append: boolean;
  readonly lastChunk: boolean;
}

/** The text of a chunk that may be merged, with its media type; undefined = it stands alone. */
export function plainText(chunk: Chunk): { readonly text: string; readonly mediaType: string | undefined } | undefined {
  const { artifact } = chunk;
  const [part, ...others] = artifact.parts;
  if (!part || others.length > 0 || !isText(part) || part.filename || part.metadata) return undefined;
  if (artifact.metadata || artifact.extensions) return undefined;
  return { text: part.text, mediaType: part.mediaType };
}

/** A chunk repeats the labels or leaves them out; one that changes them is no mere continuation. */
function sameLabels({ name, description }: Artifact, head: Artifact): boolean {
  return (name ?? head.name) === head.name && (description ?? head.description) === head.description;
}

export interface ChunkBuffer {
  /** True when the chunk was merged into what waits, or now waits itself. False: flush, then try again or commit it alone. */
  offer(chunk: Chunk): boolean;
  /** Takes what waits. */
  take(): Chunk | undefined;
  waiting(): boolean;
}

export function createChunkBuffer(): ChunkBuffer {
  let head: Chunk | undefined;
  let texts: string[] = [];
  let length = 0;
  let mediaType: string | undefined;

  return {
    offer: (chunk) => {
      const plain = plainText(chunk);
      if (!plain || chunk.lastChunk) return false;
      if (!head) {
        if (plain.text.length > LIMITS.mergeChars) return false;
        head = chunk;
        texts = [plain.text];
        length = plain.text.length;
        mediaType = plain.mediaType;
        return true;
      }
      const merges =
        chunk.append &&
        chunk.artifact.artifactId === head.artifact.artifactId &&
        sameLabels(chunk.artifact, head.artifact) &&
        plain.mediaType === mediaType &&
        length + plain.text.length <= LIMITS.mergeChars;
      if (!merges) return false;
      texts.push(plain.text);
      length += plain.text.length;
      return true;
    },
    take: () => {
      if (!head) return undefined;
      const part: Part = { text: texts.join(''), ...(mediaType === undefined ? {} : { mediaType }) };
      const chunk: Chunk = { ...head, artifact: { ...head.artifact, parts: [part] } };
      head = undefined;
      texts = [];
      return chunk;
    },
    waiting: () => head !== undefined,
  };
}
