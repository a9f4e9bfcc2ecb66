import { type ArtifactHead, fittingHead } from '../frame-size.ts';
import { isText, type Part, textOf } from '../message.ts';
import type { ArtifactLabels } from '../ports/task-store.ts';
import { type Artifact, isTerminal } from '../task.ts';
import { quoted, type TaskReport } from './findings.ts';
import type { Folded } from './fold.ts';
import { readShownParts } from './shown-parts.ts';
import type { ArtifactFacts, TaskFacts } from './stored-facts.ts';
import { isTaskState, parseJson, parseObject, parsePart, parseStatus, sameJson } from './stored-json.ts';

/*
 * The snapshot against what the events add up to. The text of a status may be shorter in its event (it has to fit a
 * frame), so its message is compared by id; artifacts are compared to the last character.
 */

export function checkStatus(task: TaskFacts, folded: Folded, report: TaskReport): void {
  const status = parseStatus(task.statusJson);
  if (!status) {
    report('unreadable', 'the status of the task');
    return;
  }
  if (status.state !== task.state) report('snapshot', `the status says ${status.state}, the row ${task.state}`);
  if (Date.parse(status.timestamp) !== task.statusAt) {
    report(
      'snapshot',
      `the status is of ${status.timestamp}, lists sort it by ${new Date(task.statusAt).toISOString()}`,
    );
  }
  const { status: shown } = folded;
  if (shown && shown.state !== status.state) {
    report('snapshot', `the status says ${status.state}, the events end at ${shown.state}`);
  }
  if (shown && shown.timestamp !== status.timestamp) {
    report('snapshot', `the status is of ${status.timestamp}, the last one in the events of ${shown.timestamp}`);
  }
  if (shown && shown.message?.messageId !== status.message?.messageId) {
    report('snapshot', 'the status has another message than the last one in the events');
  }
  const metadata = task.metadataJson === undefined ? {} : parseObject(task.metadataJson);
  if (!metadata) report('unreadable', 'the metadata of the task');
  else if (!sameJson(metadata, folded.metadata ?? {}))
    report('snapshot', 'the metadata differs from that in the events');
  if (task.reply && (task.state !== 'TASK_STATE_COMPLETED' || !status.message)) {
    report('snapshot', 'it was answered by a bare message and has none, or is not completed');
  }
  if (task.parkedOrdinal !== undefined && task.state !== 'TASK_STATE_AUTH_REQUIRED') {
    report('parked', `turn ${task.parkedOrdinal} is parked and the state is ${task.state}`);
  }
  if ((task.parkedOrdinal === undefined) !== (task.parkedHash === undefined)) {
    report('parked', 'only one of turn and token is known');
  }
}

function labelsOf(artifact: ArtifactFacts): ArtifactLabels | undefined {
  const metadata = artifact.metadataJson === undefined ? {} : { metadata: parseObject(artifact.metadataJson) };
  const extensions =
    artifact.extensionsJson === undefined ? {} : { extensions: parseJson(artifact.extensionsJson)?.value };
  if ('metadata' in metadata && !metadata.metadata) return undefined;
  if ('extensions' in extensions && !Array.isArray(extensions.extensions)) return undefined;
  return {
    ...(artifact.name === undefined ? {} : { name: artifact.name }),
    ...(artifact.description === undefined ? {} : { description: artifact.description }),
    ...metadata,
    ...extensions,
  } as ArtifactLabels;
}

/** Metadata that no frame has room for was not shown, or not all of it. */
function sameLabels(stored: ArtifactHead, { parts: _, ...shown }: Artifact): boolean {
  if (fittingHead(stored) === stored) return sameJson(stored, shown);
  return stored.name === shown.name && stored.description === shown.description;
}

async function checkArtifact(artifact: ArtifactFacts, shown: Artifact | undefined, report: TaskReport): Promise<void> {
  const name = `artifact ${quoted(artifact.id)}`;
  const reader = readShownParts(shown?.parts ?? []);
  const stored: Part[] = [];
  let last = 0;
  let differs: number | undefined;
  for await (const { position, turn, attempt, writerKnown, json } of artifact.parts()) {
    if (position <= last) report('artifact', `${name}: part ${position} comes after part ${last}`);
    last = position;
    if (!writerKnown)
      report(
        'artifact',
        `${name}: part ${position} was written by turn ${turn}, attempt ${attempt}, which it does not know`,
      );
    const part = parsePart(json);
    if (!part) {
      report('unreadable', `${name}: part ${position}`);
      return;
    }
    if (!shown) stored.push(part);
    else if (differs === undefined && !reader.next(part)) differs = position;
  }
  if (last === 0) report('artifact', `${name} has no parts`);
  const labels = labelsOf(artifact);
  if (!labels) {
    report('unreadable', `the metadata or extensions of ${name}`);
  } else if (!shown) {
    // An agent may mark an empty artifact as superseded itself; its event reads like a withdrawal.
    const empty = stored.every(isText) && textOf(stored) === '' && labels.metadata?.superseded === true;
    if (!empty) report('artifact', `${name} is in no event, or was withdrawn`);
  } else {
    if (differs !== undefined) report('artifact', `${name}: part ${differs} is not what the events showed`);
    else if (!reader.ended()) report('artifact', `${name} ends before what the events showed`);
    if (!sameLabels({ artifactId: artifact.id, ...labels }, shown)) {
      report('artifact', `${name} has other labels than the events showed`);
    }
  }
}

export async function checkArtifacts(task: TaskFacts, folded: Folded, report: TaskReport): Promise<void> {
  const seen = new Set<string>();
  for await (const artifact of task.artifacts()) {
    if (seen.has(artifact.id)) report('artifact', `artifact ${quoted(artifact.id)} is stored twice`);
    seen.add(artifact.id);
    await checkArtifact(artifact, folded.artifacts.get(artifact.id), report);
  }
  for (const id of folded.artifacts.keys()) {
    if (!seen.has(id)) report('artifact', `artifact ${quoted(id)} was shown and is not stored`);
  }
}

export function hasEnded({ state }: TaskFacts): boolean {
  return isTaskState(state) && isTerminal(state);
}
