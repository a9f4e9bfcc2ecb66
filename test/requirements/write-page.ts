import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REQUIREMENTS } from '../requirements.ts';
import { withSection } from './page.ts';

const PAGE = fileURLToPath(new URL('../../../docs/conformance.md', import.meta.url));
writeFileSync(PAGE, withSection(readFileSync(PAGE, 'utf8'), REQUIREMENTS));
