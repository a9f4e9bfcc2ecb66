// A process that holds the write lock of a database, from the line that it prints until its input ends.
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';

const [, , path = ''] = process.argv;
const db = new BetterSqlite3(path, { timeout: 10_000 });
db.exec('begin immediate');
writeSync(1, 'held\n');
await once(process.stdin.resume(), 'end');
db.exec('rollback');
db.close();
