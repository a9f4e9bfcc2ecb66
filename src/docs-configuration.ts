// Writes the pages that follow from the configuration schema. With --check it only says whether they are up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { configurationPage, environmentExample } from './configuration-pages.ts';

const pages = { 'docs/configuration.md': configurationPage(), '.env.example': environmentExample() };
const stale = Object.entries(pages).filter(([path, text]) => current(path) !== text);

if (process.argv.includes('--check')) {
  for (const [path] of stale) console.error(`${path} is stale: run npm run docs`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [path, text] of stale) {
    writeFileSync(path, text);
    console.log(`${path} written`);
  }
}

function current(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
