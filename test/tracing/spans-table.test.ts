import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LOG_FIELDS } from '../../src/log-record.ts';
import { SPANS } from '../../src/spans.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('spans: what the code begins and what is declared are the same', () => {
  const begun = new Set<string>();
  for (const top of ['core', 'adapters', 'src']) {
    for (const name of readdirSync(join(ROOT, top), { recursive: true }).map(String)) {
      if (!name.endsWith('.ts')) continue;
      const text = readFileSync(join(ROOT, top, name), 'utf8');
      for (const [, span = ''] of text.matchAll(/(?:\.span|\boperation)\(\s*'([\w.]+)'/g)) begun.add(span);
    }
  }
  assert.deepEqual([...begun].sort(), Object.keys(SPANS).sort());
});

test('spans: every attribute is a field that may be written down', () => {
  const attributes = Object.values(SPANS).flatMap((row) => row.attributes);
  assert.deepEqual(
    attributes.filter((name) => !LOG_FIELDS.has(name)),
    [],
  );
});
