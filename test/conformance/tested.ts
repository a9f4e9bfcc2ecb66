import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What is under test and when, as the tables of results show it. */
export interface Tested {
  /** Day in UTC, as 2026-11-30. */
  readonly date: string;
  readonly node: string;
  /** Version of @a2a-js/sdk that is installed. */
  readonly sdk: string;
}

export function tested(now = new Date()): Tested {
  const file = new URL('../../../node_modules/@a2a-js/sdk/package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(fileURLToPath(file), 'utf8')) as { version: string };
  return { date: now.toISOString().slice(0, 10), node: process.versions.node, sdk: version };
}
