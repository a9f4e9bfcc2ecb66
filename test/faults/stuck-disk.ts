import { existsSync, openSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import BetterSqlite3 from 'better-sqlite3';

/*
 * Loaded before the shipped program. Once there is a named pipe `stuck` in its working directory, the store's thread stands
 * still with its next commit, in a system call that nothing gets it out of, as on a disk that has stopped: nobody ever opens
 * the pipe to write.
 */

const prototype = BetterSqlite3.prototype as unknown as { prepare(sql: string): { run(): unknown } };
const { prepare } = prototype;

if (!isMainThread) {
  prototype.prepare = function stand(sql) {
    const statement = prepare.call(this, sql);
    if (sql !== 'commit') return statement;
    const { run } = statement;
    statement.run = () => {
      if (existsSync('stuck')) openSync('stuck', 'r');
      return run.call(statement);
    };
    return statement;
  };
}
