import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** A folder that goes with the test. */
export function tempDir(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'connector-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
