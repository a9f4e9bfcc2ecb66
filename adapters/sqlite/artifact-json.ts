import { isText, type JsonObject, type Part } from '../../core/message.ts';
import type { Artifact } from '../../core/task.ts';
import type { Unfinished } from './column-values.ts';

export const ARTIFACT_COLUMNS = 'pk, id, name, description, metadata, extensions';
/** UTF-8 bytes of the stored JSON of all artifacts of `t`. */
export const ARTIFACT_BYTES = `(select
    coalesce(sum(coalesce(octet_length(a.metadata), 0)
      + coalesce((select sum(octet_length(p.json)) from artifact_part p where p.artifact = a.pk), 0)), 0)
  from artifact a where a.task = t.pk)`;
/*
 * All artifacts of `t` as the inside of a JSON array, put together from what is stored without parsing it; '' when it has
 * none. SQLite copies such a text several times, so it is for small ones: 1.5 times as quick as their rows at 15 kB, as
 * quick at 150 kB, half as quick at 9 MB. A subquery's order is kept for group_concat, and cheaper than one of its own.
 */
const PARTS_JSON = `select group_concat(joined || ',' || json, ',')
  from (select joined, json from artifact_part where artifact = ordered.pk order by position)`;
export const ARTIFACTS_JSON = `coalesce((
  select group_concat('[' || json_quote(ordered.id) || ',' || json_quote(ordered.name)
    || ',' || json_quote(ordered.description) || ',' || coalesce(ordered.metadata, 'null')
    || ',' || coalesce(ordered.extensions, 'null') || ',[' || coalesce((${PARTS_JSON}), '') || ']]', ',')
  from (select ${ARTIFACT_COLUMNS} from artifact where task = t.pk order by pk) ordered), '')`;

/** What ARTIFACTS_JSON made: of each its columns and then its parts, each behind whether it is joined. */
type ArtifactJson = [
  ...[id: string, name: string | null, description: string | null],
  ...[metadata: JsonObject | null, extensions: readonly string[] | null, parts: readonly (0 | 1 | Part)[]],
];

export function parseArtifacts(json: string): readonly Artifact[] {
  if (json === '') return [];
  const rows = JSON.parse(`[${json}]`) as readonly ArtifactJson[];
  return rows.map(([artifactId, name, description, metadata, extensions, joinedParts]) => {
    const parts: Part[] = [];
    for (let at = 0; at < joinedParts.length; at += 2) {
      addPart(parts, joinedParts[at + 1] as Part, joinedParts[at] === 1);
    }
    const artifact: Unfinished<Artifact> = { artifactId, parts };
    if (name !== null) artifact.name = name;
    if (description !== null) artifact.description = description;
    if (metadata !== null) artifact.metadata = metadata;
    if (extensions !== null) artifact.extensions = extensions;
    return artifact;
  });
}

export function addPart(parts: Part[], part: Part, joined: boolean): void {
  const last = joined ? parts.at(-1) : undefined;
  // What a joined part continues may be gone with a lost attempt: then it stands alone.
  if (last && isText(last) && isText(part)) parts[parts.length - 1] = { ...last, text: last.text + part.text };
  else parts.push(part);
}
