import { ALONE_MARK, CUT_MARK, placeholderOf } from './cut-marks.ts';
import { escapedLength, splitText } from './escaped-text.ts';
import type { ArtifactUpdate, EventBody, StatusUpdate } from './event.ts';
import { LIMITS } from './limits.ts';
import { isText, type Message, type Part } from './message.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/*
 * No frame passes LIMITS.frameChars characters of JSON after escaping: the strictest client in the field (the A2A Java
 * SDK's reader) drops a longer line without a word. Text is cut between code points into pieces that are appended one
 * after the other; what cannot be cut (raw bytes, data) is named by a text part instead, and GetTask has all of it.
 */

/** What surrounds the parts of an event: ids, state, timestamp, keys. Ids are at most 256 bytes each, 1,536 escaped. */
const OVERHEAD = 6_000;
/** A part's comma, and what 0.3 prints around its content: `{"kind":"file","file":{…}}`, a wrapped data value. */
const PART_ALLOWANCE = 80;

function partsAllowance(parts: readonly Part[]): number {
  return parts.length * PART_ALLOWANCE;
}

function lengthOf(part: Part): number {
  return escapedLength(part) + PART_ALLOWANCE;
}

/** Parts that fit `budget` together: what cannot be cut is named, and where the rest is left out a mark says so. */
function fittingParts(parts: readonly Part[], budget: number): readonly Part[] {
  const mark = { text: ALONE_MARK };
  const fitting: Part[] = [];
  let left = budget - lengthOf(mark);
  for (const part of parts) {
    const shown = isText(part) || lengthOf(part) <= left ? part : placeholderOf(part);
    if (lengthOf(shown) <= left) {
      fitting.push(shown);
      left -= lengthOf(shown);
      continue;
    }
    const room = isText(part) ? left - lengthOf({ ...part, text: CUT_MARK }) : 0;
    const cut = isText(part) && room > 0 ? { ...part, text: (splitText(part.text, room)[0] ?? '') + CUT_MARK } : mark;
    return [...fitting, cut];
  }
  return fitting.length > 0 ? fitting : [mark];
}

/** A message that fits one frame, when it goes out alone. */
export function smallMessage(message: Message, budget: number = LIMITS.frameChars - OVERHEAD): Message {
  if (escapedLength(message) + partsAllowance(message.parts) <= budget) return message;
  const { parts, ...envelope } = message;
  const room = budget - escapedLength(envelope) - 100;
  if (room > 0) return { ...envelope, parts: fittingParts(parts, room) };
  const { metadata: _, ...bare } = envelope;
  return { ...bare, parts: fittingParts(parts, budget - OVERHEAD) };
}

function smallStatus(status: TaskStatus, budget: number): TaskStatus {
  return status.message ? { ...status, message: smallMessage(status.message, budget) } : status;
}

/** Some plain text, each character six at most, and half a frame for ids and keys: nearly all need no measuring. */
function isSurelySmall({ metadata, status: { message } }: StatusUpdate): boolean {
  if (metadata || message?.metadata || message?.extensions || message?.referenceTaskIds) return false;
  let chars = 0;
  for (const part of message?.parts ?? []) {
    if (!isText(part) || part.metadata || part.filename || part.mediaType) return false;
    chars += part.text.length + PART_ALLOWANCE;
  }
  return chars * 6 <= LIMITS.frameChars / 2;
}

/** A status event that fits one frame. */
export function smallStatusUpdate(update: StatusUpdate): EventBody {
  if (isSurelySmall(update)) return { statusUpdate: update };
  const budget = LIMITS.frameChars - OVERHEAD - escapedLength(update.metadata ?? {});
  return { statusUpdate: { ...update, status: smallStatus(update.status, budget) } };
}

export interface Piece {
  readonly part: Part;
  /** Continues the text of the piece before it. */
  readonly joined: boolean;
}

/** One event's worth of an artifact: what the frame shows, and what is stored for it. */
export interface Slice {
  readonly shown: readonly Part[];
  readonly stored: readonly Piece[];
}

/**
 * Cuts an artifact's parts into slices that fit one frame each. `joinsPrevious`: the first text part continues what is
 * already stored. At least one slice.
 */
export function sliceParts(parts: readonly Part[], overhead: number, joinsPrevious: boolean): readonly Slice[] {
  const budget = LIMITS.frameChars - OVERHEAD - overhead;
  const slices: { shown: Part[]; stored: Piece[] }[] = [];
  let current: { shown: Part[]; stored: Piece[] } = { shown: [], stored: [] };
  let left = budget;
  const put = (shown: Part, stored: Piece): void => {
    const length = lengthOf(shown);
    if (length > left && current.stored.length > 0) {
      slices.push(current);
      current = { shown: [], stored: [] };
      left = budget;
    }
    current.shown.push(shown);
    current.stored.push(stored);
    left -= length;
  };
  parts.forEach((part, index) => {
    const joined = index === 0 && joinsPrevious;
    if (escapedLength(part) <= budget) put(part, { part, joined });
    else if (!isText(part)) put(placeholderOf(part), { part, joined });
    else {
      // A frame that has no room for the part's own details beside its text leaves them out.
      const details = escapedLength({ ...part, text: '' }) * 2 > budget ? { text: '' } : { ...part, text: '' };
      splitText(part.text, budget - escapedLength(details) - 1).forEach((text, piece) => {
        put({ ...details, text }, { part: { ...part, text }, joined: piece > 0 || joined });
      });
    }
  });
  slices.push(current);
  return slices;
}

export type ArtifactHead = Omit<Artifact, 'parts'>;

/** Many appends merge into more metadata than one update may bring: then a frame has the names and GetTask the rest. */
export function fittingHead(head: ArtifactHead): ArtifactHead {
  if (escapedLength(head) <= LIMITS.frameChars / 2) return head;
  const { metadata: _metadata, extensions: _extensions, ...named } = head;
  return named;
}

export interface ArtifactEvents {
  readonly taskId: string;
  readonly contextId: string;
  readonly head: ArtifactHead;
  readonly slices: readonly Slice[];
  /** Does the first event append to what the readers have? */
  readonly append: boolean;
  readonly lastChunk?: boolean;
}

/** The artifact events for these slices: the first as asked, the others appending. */
export function artifactEvents(input: ArtifactEvents): readonly EventBody[] {
  return input.slices.map((slice, index): EventBody => {
    const last = index === input.slices.length - 1;
    const update: ArtifactUpdate = {
      taskId: input.taskId,
      contextId: input.contextId,
      artifact:
        index === 0 ? { ...input.head, parts: slice.shown } : { artifactId: input.head.artifactId, parts: slice.shown },
      ...(index > 0 || input.append ? { append: true } : {}),
      ...(last && input.lastChunk ? { lastChunk: true } : {}),
    };
    return { artifactUpdate: update };
  });
}

/**
 * A snapshot as frames: the Task without history, with the artifacts that fit; the others follow at once as artifact
 * updates. Only the last frame completes the snapshot, so only that one may carry its sequence.
 */
export function snapshotFrames(task: Task): readonly EventBody[] {
  const { artifacts = [], history: _, ...rest } = task;
  const head = { ...rest, status: smallStatus(rest.status, LIMITS.frameChars / 2) };
  let left = LIMITS.frameChars - escapedLength(head) - 100;
  const inside: Artifact[] = [];
  const following: EventBody[] = [];
  for (const artifact of artifacts) {
    const length = escapedLength(artifact) + partsAllowance(artifact.parts);
    if (following.length === 0 && length <= left) {
      inside.push(artifact);
      left -= length;
      continue;
    }
    const { parts, ...artifactHead } = artifact;
    const shown = fittingHead(artifactHead);
    following.push(
      ...artifactEvents({
        taskId: task.id,
        contextId: task.contextId,
        head: shown,
        slices: sliceParts(parts, escapedLength(shown), false),
        append: false,
      }),
    );
  }
  return [{ task: inside.length > 0 ? { ...head, artifacts: inside } : head }, ...following];
}
