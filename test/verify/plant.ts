import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import type { Rule } from '../../core/verify/findings.ts';
import { tempDir } from '../support/temp-dir.ts';
import { livedInDatabase, type Stories } from './lived-in.ts';
import { told, type Verified, verifyFile } from './verify-file.ts';

/*
 * Damage that no statement of the store does, planted into a copy of a real database, one at a time. Each must be found
 * under the rules named here and under no other.
 */

export interface Corruption {
  readonly name: string;
  /** `:task` is the key of the story's task; foreign keys are off. */
  readonly sql: string;
  readonly story?: keyof Stories;
  /** Other tasks that the damage touches. */
  readonly others?: readonly (keyof Stories)[];
  readonly rules: readonly Rule[];
  /** What the finding must say of where it is. */
  readonly says?: RegExp;
}

export async function findEach(t: TestContext, corruptions: readonly Corruption[]): Promise<void> {
  const { taskIds, clock, copy } = await livedInDatabase(t);
  const intact = copy();
  for (const corruption of corruptions) {
    await t.test(`${corruption.name}: ${corruption.rules.join(', ')}`, async (each) => {
      const path = join(tempDir(each), 'damaged.db');
      copyFileSync(intact, path);
      damage(path, corruption, taskIds);
      expectFound(await verifyFile(path, clock.now()), corruption, taskIds);
    });
  }
}

function expectFound(verified: Verified, { rules, says, story, others = [] }: Corruption, taskIds: Stories): void {
  const lines = told(verified).join('\n');
  assert.deepEqual([...new Set(verified.findings.map(({ rule }) => rule))].sort(), [...rules].sort(), lines);
  assert.match(lines, says ?? /./);
  const named = new Set(verified.findings.flatMap(({ taskId }) => taskId ?? []));
  const damaged = [...(story ? [story] : []), ...others].map((each) => taskIds[each]);
  assert.deepEqual([...named].sort(), rules[0] === 'orphan' ? [] : damaged.sort(), lines);
  assert.doesNotMatch(lines, /secret|Sperrm|two, |the blue one|which one/, 'no text of anybody is shown');
}

function damage(path: string, { sql, story }: Corruption, taskIds: Stories): void {
  const db = new BetterSqlite3(path);
  try {
    db.pragma('foreign_keys = off');
    const keyOf = db.prepare<[string], { pk: number }>('select pk from task where id = ?');
    const key = story && keyOf.get(taskIds[story])?.pk;
    const changes = db.prepare<[], { count: number }>('select total_changes() as count');
    const before = changes.get()?.count ?? 0;
    db.exec(sql.replaceAll(':task', String(key)).replaceAll(':running', `'${taskIds.running}'`));
    assert.ok((changes.get()?.count ?? 0) > before || sql.startsWith('drop'), 'the damage was done');
  } finally {
    db.close();
  }
}
