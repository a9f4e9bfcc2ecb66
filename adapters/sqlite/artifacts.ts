import type { Part } from '../../core/message.ts';
import type { ArtifactLabels, ArtifactView, ArtifactWrite } from '../../core/ports/task-store.ts';
import type { Artifact } from '../../core/task.ts';
import { ARTIFACT_COLUMNS, addPart } from './artifact-json.ts';
import { present } from './column-values.ts';
import type { Connection, Query } from './database.ts';

const SELECT_ARTIFACT = `select ${ARTIFACT_COLUMNS} from artifact where task = ? and id = ?`;
const SELECT_ARTIFACTS = `select ${ARTIFACT_COLUMNS} from artifact where task = ? order by pk`;
const INSERT_ARTIFACT = `insert into artifact (task, id, name, description, metadata, extensions)
  values (?, ?, ?, ?, ?, ?)`;
const UPDATE_ARTIFACT = 'update artifact set name = ?, description = ?, metadata = ?, extensions = ? where pk = ?';
const DELETE_ARTIFACT = 'delete from artifact where pk = ?';

const SELECT_PARTS = 'select joined, json from artifact_part where artifact = ? order by position';
const SELECT_KEPT_PARTS = `select joined, json from artifact_part
  where artifact = ? and not (turn = ? and attempt < ?) order by position`;
const SELECT_ANY_PART = 'select 1 as one from artifact_part where artifact = ? limit 1';
const INSERT_PART = `insert into artifact_part (artifact, position, turn, attempt, joined, json)
  values (?, coalesce((select max(position) from artifact_part where artifact = ?), 0) + 1, ?, ?, ?, ?)`;
const DELETE_PARTS = 'delete from artifact_part where artifact = ?';
const DELETE_LOST_PARTS = 'delete from artifact_part where artifact = ? and turn = ? and attempt < ?';

const INSERT_WRITER = 'insert or ignore into artifact_writer (artifact, turn, attempt) values (?, ?, ?)';
const SELECT_LOST_WRITER =
  'select 1 as one from artifact_writer where artifact = ? and turn = ? and attempt < ? limit 1';
const SELECT_LOST_ARTIFACTS = `select ${ARTIFACT_COLUMNS} from artifact a where a.task = ?
  and exists (select 1 from artifact_writer w where w.artifact = a.pk and w.turn = ? and w.attempt < ?)
  order by a.pk`;
const DELETE_WRITERS = 'delete from artifact_writer where artifact = ?';
const DELETE_LOST_WRITERS = 'delete from artifact_writer where artifact = ? and turn = ? and attempt < ?';

interface ArtifactRow {
  readonly pk: number;
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly metadata: string | null;
  readonly extensions: string | null;
}

interface PartRow {
  readonly joined: number;
  readonly json: string;
}

/** A turn's attempt: parts that a lower attempt of the same turn wrote are lost ones. */
interface Writer {
  readonly ordinal: number;
  readonly attempt: number;
}

export const NO_VIEWS: ReadonlyMap<string, ArtifactView> = new Map();

export interface Artifacts {
  /** In the order in which they were first written. */
  read(task: number): readonly Artifact[];
  views(task: number, ids: readonly string[], writer: Writer | undefined): ReadonlyMap<string, ArtifactView>;
  /** Artifacts that hold parts of lost attempts of the writer's turn. */
  lost(task: number, writer: Writer | undefined): ReadonlyMap<string, ArtifactView>;
  write(task: number, write: ArtifactWrite): void;
}

export function createArtifacts(connection: Connection): Artifacts {
  type Lost = [artifact: number, turn: number, attempt: number];
  type Labels = [name: string | null, description: string | null, metadata: string | null, extensions: string | null];
  const select: Query<[task: number, id: string], ArtifactRow> = connection.prepare(SELECT_ARTIFACT);
  const selectAll: Query<[task: number], ArtifactRow> = connection.prepare(SELECT_ARTIFACTS);
  const insert: Query<[task: number, id: string, ...Labels], unknown> = connection.prepare(INSERT_ARTIFACT);
  const update: Query<[...Labels, pk: number], unknown> = connection.prepare(UPDATE_ARTIFACT);
  const remove: Query<[pk: number], unknown> = connection.prepare(DELETE_ARTIFACT);
  const selectParts: Query<[artifact: number], PartRow> = connection.prepare(SELECT_PARTS);
  const selectKept: Query<Lost, PartRow> = connection.prepare(SELECT_KEPT_PARTS);
  const selectAnyPart: Query<[artifact: number], unknown> = connection.prepare(SELECT_ANY_PART);
  const insertPart: Query<
    [artifact: number, again: number, turn: number, attempt: number, joined: number, json: string],
    unknown
  > = connection.prepare(INSERT_PART);
  const deleteParts: Query<[artifact: number], unknown> = connection.prepare(DELETE_PARTS);
  const deleteLostParts: Query<Lost, unknown> = connection.prepare(DELETE_LOST_PARTS);
  const insertWriter: Query<Lost, unknown> = connection.prepare(INSERT_WRITER);
  const selectLostWriter: Query<Lost, unknown> = connection.prepare(SELECT_LOST_WRITER);
  const selectLost: Query<[task: number, turn: number, attempt: number], ArtifactRow> =
    connection.prepare(SELECT_LOST_ARTIFACTS);
  const deleteWriters: Query<[artifact: number], unknown> = connection.prepare(DELETE_WRITERS);
  const deleteLostWriters: Query<Lost, unknown> = connection.prepare(DELETE_LOST_WRITERS);

  function lostView(row: ArtifactRow, writer: Writer): ArtifactView {
    const kept = joinParts(selectKept.all(row.pk, writer.ordinal, writer.attempt));
    const labels = toLabels(row);
    return { lost: true, kept, ...(kept.length > 0 && Object.keys(labels).length > 0 ? { labels } : {}) };
  }

  function write(task: number, write: ArtifactWrite): void {
    const existing = select.get(task, write.artifactId);
    if (write.mode === 'drop-lost') {
      if (existing) dropLost(existing.pk, write);
      return;
    }
    const pk = existing ? prepareExisting(existing, write) : create(task, write);
    for (const { part, joined } of write.parts) {
      insertPart.run(pk, pk, write.ordinal, write.attempt, joined ? 1 : 0, JSON.stringify(part));
    }
    insertWriter.run(pk, write.ordinal, write.attempt);
  }

  function create(task: number, write: ArtifactWrite): number {
    return insert.insert(task, write.artifactId, ...labels(write));
  }

  /** Makes room for the parts; afterwards they are only appended. */
  function prepareExisting(existing: ArtifactRow, write: ArtifactWrite): number {
    const { pk } = existing;
    if (write.mode === 'replace') {
      deleteParts.run(pk);
      deleteWriters.run(pk);
    } else if (write.mode === 'replace-lost') {
      deleteLostParts.run(pk, write.ordinal, write.attempt);
      deleteLostWriters.run(pk, write.ordinal, write.attempt);
    }
    const startsAnew = write.mode !== 'append' && selectAnyPart.get(pk) === undefined;
    if (startsAnew) update.run(...labels(write), pk);
    else if (hasLabels(write)) update.run(...mergedLabels(existing, write), pk);
    return pk;
  }

  function dropLost(pk: number, write: ArtifactWrite): void {
    deleteLostParts.run(pk, write.ordinal, write.attempt);
    deleteLostWriters.run(pk, write.ordinal, write.attempt);
    if (selectAnyPart.get(pk) === undefined) remove.run(pk);
  }

  return {
    read: (task) => selectAll.all(task).map((row) => toArtifact(row, joinParts(selectParts.all(row.pk)))),
    views(task, ids, writer) {
      if (ids.length === 0) return NO_VIEWS;
      const views = new Map<string, ArtifactView>();
      for (const id of ids) {
        const row = select.get(task, id);
        if (!row) continue;
        // A first attempt has no lost ones before it.
        const lost =
          writer !== undefined &&
          writer.attempt > 1 &&
          selectLostWriter.get(row.pk, writer.ordinal, writer.attempt) !== undefined;
        views.set(id, lost ? lostView(row, writer) : { lost: false, kept: [] });
      }
      return views;
    },
    lost(task, writer) {
      if (!writer || writer.attempt <= 1) return NO_VIEWS;
      const views = new Map<string, ArtifactView>();
      for (const row of selectLost.all(task, writer.ordinal, writer.attempt)) {
        views.set(row.id, lostView(row, writer));
      }
      return views;
    },
    write,
  };
}

type LabelValues = [
  name: string | null,
  description: string | null,
  metadata: string | null,
  extensions: string | null,
];

function labels(write: ArtifactWrite): LabelValues {
  return [write.name ?? null, write.description ?? null, json(write.metadata), json(write.extensions)];
}

function hasLabels(write: ArtifactWrite): boolean {
  return (
    write.name !== undefined ||
    write.description !== undefined ||
    write.metadata !== undefined ||
    write.extensions !== undefined
  );
}

/** An append that names a label changes it, as readers of the stream do; metadata is merged key by key. */
function mergedLabels(existing: ArtifactRow, write: ArtifactWrite): LabelValues {
  const metadata =
    write.metadata === undefined
      ? existing.metadata
      : json({ ...(existing.metadata === null ? {} : JSON.parse(existing.metadata)), ...write.metadata });
  return [
    write.name ?? existing.name,
    write.description ?? existing.description,
    metadata,
    json(write.extensions) ?? existing.extensions,
  ];
}

function json(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function toArtifact(row: ArtifactRow, parts: readonly Part[]): Artifact {
  return { artifactId: row.id, ...toLabels(row), parts };
}

function toLabels(row: ArtifactRow): ArtifactLabels {
  return {
    ...present('name', row.name),
    ...present('description', row.description),
    ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) }),
    ...(row.extensions === null ? {} : { extensions: JSON.parse(row.extensions) }),
  };
}

function joinParts(rows: readonly PartRow[]): readonly Part[] {
  const parts: Part[] = [];
  for (const row of rows) addPart(parts, JSON.parse(row.json) as Part, row.joined === 1);
  return parts;
}
