import { readFileSync } from 'node:fs';

/** Of package.json, two folders above the compiled file. */
export const packageVersion: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
