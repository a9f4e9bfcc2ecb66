import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const textOf = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), 'utf8');

test('engine: the image gives Node what npm start gives it, and what operators are told', () => {
  const { start } = (JSON.parse(textOf('package.json')) as { readonly scripts: { readonly start: string } }).scripts;
  const options = start.match(/(?<= )--\S+/g) ?? [];
  assert.notEqual(options.length, 0);
  const image = JSON.parse(/^CMD (\[.*\])$/m.exec(textOf('Dockerfile'))?.[1] ?? '[]') as readonly string[];
  for (const option of options) {
    assert.ok(image.includes(option), `the Dockerfile has no ${option}`);
    assert.ok(textOf('docs/operations.md').includes(`\`${option}\``), `docs/operations.md has no ${option}`);
  }
});
