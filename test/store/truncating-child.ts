// A process that copies the log of a database into it and empties it, with a line for each time, until its input ends.
import { statSync, writeSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';

const [, , path = ''] = process.argv;
const db = new BetterSqlite3(path, { timeout: 1_000 });
let ended = false;
process.stdin.resume().once('end', () => {
  ended = true;
});
while (!ended) {
  const filled = statSync(`${path}-wal`).size > 0;
  if (filled && db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0) writeSync(1, 'emptied\n');
  await new Promise((resolve) => setImmediate(resolve));
}
db.close();
