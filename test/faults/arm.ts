import { writeSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import BetterSqlite3 from 'better-sqlite3';

/*
 * Stops this process at one point of its work, as somebody's SIGKILL at that very moment would: nothing after the point
 * runs in the thread that comes there, no handler, no finally, and the others end as soon as the signal reaches them. The points lie at the two borders that decide what others can know: what is committed to the
 * database, and what is written to a client. So the program under test is the shipped one, and only the two libraries
 * at its borders are watched, from outside.
 */

export type Fault =
  /** A transaction of the service that ran a statement like this, before or after its COMMIT. */
  | { readonly commit: 'before' | 'after'; readonly wrote: RegExp; readonly nth?: number }
  /** One statement, after it ran; its transaction is still open. */
  | { readonly statement: RegExp; readonly nth?: number }
  /** Before something like this is written to a client. */
  | { readonly answer: RegExp; readonly nth?: number }
  /** Before the database is closed in order. */
  | { readonly close: true; readonly nth?: number };

export const REACHED = 'fault.reached';

/** A statement as patterns see it: its text and what was bound to it. */
function shown(sql: string, values: readonly unknown[]): string {
  return `${sql.trim()} -- ${values.filter((value) => typeof value !== 'object').join(' ')}`;
}

/** From now on this process dies when it comes there for the nth time. */
export function arm(name: string, fault: Fault): void {
  let left = fault.nth ?? 1;

  function reach(): void {
    left -= 1;
    if (left > 0) return;
    writeSync(1, `${JSON.stringify({ level: 'fatal', event: REACHED, point: name })}\n`);
    process.kill(process.pid, 'SIGKILL');
    // The signal is on its way; nothing else may happen meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }

  let transaction: string[] = [];
  function ran(statement: string): void {
    if (/^begin/i.test(statement)) transaction = [];
    else transaction.push(statement);
    if ('statement' in fault && fault.statement.test(statement)) reach();
  }

  const { prepare, exec, close } = BetterSqlite3.prototype;
  BetterSqlite3.prototype.prepare = function (this: BetterSqlite3.Database, sql: string) {
    const prepared = prepare.call(this, sql);
    const run = prepared.run as (...values: unknown[]) => BetterSqlite3.RunResult;
    const isCommit = /^\s*commit/i.test(sql);
    prepared.run = function (this: BetterSqlite3.Statement, ...values: unknown[]) {
      const concerned = isCommit && 'commit' in fault && transaction.some((each) => fault.wrote.test(each));
      if (concerned && fault.commit === 'before') reach();
      const result = run.apply(this, values);
      if (concerned && fault.commit === 'after') reach();
      ran(shown(sql, values));
      return result;
    };
    return prepared;
  } as typeof prepare;
  BetterSqlite3.prototype.exec = function (sql) {
    const result = exec.call(this, sql);
    ran(shown(sql, []));
    return result;
  };
  BetterSqlite3.prototype.close = function () {
    if ('close' in fault) reach();
    return close.call(this);
  };

  const { write, end } = ServerResponse.prototype;
  const watched = (original: (...values: never[]) => unknown) =>
    function (this: ServerResponse, ...values: unknown[]) {
      const [text] = values;
      if ('answer' in fault && typeof text === 'string' && fault.answer.test(text)) reach();
      return original.apply(this, values as never[]);
    };
  ServerResponse.prototype.write = watched(write) as typeof write;
  ServerResponse.prototype.end = watched(end) as typeof end;
}
