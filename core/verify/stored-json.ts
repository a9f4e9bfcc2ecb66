import type { EventBody } from '../event.ts';
import type { JsonObject, Part } from '../message.ts';
import { TASK_STATES, type TaskState, type TaskStatus } from '../task.ts';

/*
 * Reads stored JSON without believing it. What comes back has the members that the verifier looks at; undefined means
 * that the text is damaged or of another shape.
 */

const STATES: ReadonlySet<unknown> = new Set(TASK_STATES);
const CONTENTS = ['text', 'raw', 'url', 'data'] as const;

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isTaskState(value: unknown): value is TaskState {
  return STATES.has(value);
}

export function parseJson(json: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): boolean {
  return isObject(value) && typeof value.messageId === 'string' && isParts(value.parts);
}

function isStatus(value: unknown): value is TaskStatus {
  return (
    isObject(value) &&
    isTaskState(value.state) &&
    typeof value.timestamp === 'string' &&
    !Number.isNaN(Date.parse(value.timestamp)) &&
    (value.message === undefined || isMessage(value.message))
  );
}

function isPart(value: unknown): value is Part {
  if (!isObject(value)) return false;
  const content = CONTENTS.filter((arm) => value[arm] !== undefined);
  return content.length === 1 && (content[0] === 'data' || typeof value[content[0] ?? ''] === 'string');
}

function isParts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isPart);
}

function isArtifact(value: unknown): boolean {
  return isObject(value) && typeof value.artifactId === 'string' && isParts(value.parts);
}

function isOptionalObject(value: unknown): boolean {
  return value === undefined || isObject(value);
}

function isEvent(value: unknown): value is EventBody {
  if (!isObject(value) || Object.keys(value).length !== 1) return false;
  const { task, statusUpdate, artifactUpdate, message } = value;
  if (isObject(task)) {
    const artifacts = task.artifacts;
    const known = artifacts === undefined || (Array.isArray(artifacts) && artifacts.every(isArtifact));
    return isStatus(task.status) && known && isOptionalObject(task.metadata);
  }
  if (isObject(statusUpdate)) return isStatus(statusUpdate.status) && isOptionalObject(statusUpdate.metadata);
  if (isObject(artifactUpdate)) return isArtifact(artifactUpdate.artifact);
  return isMessage(message);
}

function parseAs<T>(json: string, is: (value: unknown) => value is T): T | undefined {
  const parsed = parseJson(json);
  return parsed && is(parsed.value) ? parsed.value : undefined;
}

export function parseEvent(json: string): EventBody | undefined {
  return parseAs(json, isEvent);
}

export function parseStatus(json: string): TaskStatus | undefined {
  return parseAs(json, isStatus);
}

export function parsePart(json: string): Part | undefined {
  return parseAs(json, isPart);
}

/** Only what the verifier needs of a message. */
export function parseRole(json: string): string | undefined {
  const value = parseJson(json)?.value;
  const role = isMessage(value) && isObject(value) ? value.role : undefined;
  return typeof role === 'string' ? role : undefined;
}

export function parseObject(json: string): JsonObject | undefined {
  const value = parseJson(json)?.value;
  return isObject(value) ? (value as JsonObject) : undefined;
}

/** Equal as JSON, whatever the order of the members. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}
