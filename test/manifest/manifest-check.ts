import { report } from './manifest-rules.ts';

/*
 * Usage: node dist/test/manifest/manifest-check.js [file]. Says what is wrong with a manifest, without a login and
 * without the network. Ends with 1 when something is.
 */
const file = process.argv[2] ?? 'manifest.yml';
const { lines, sound } = await report(file);
for (const line of lines) console.log(`${file}: ${line}`);
process.exitCode = sound ? 0 : 1;
