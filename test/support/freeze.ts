import { spawnSync } from 'node:child_process';
import BetterSqlite3 from 'better-sqlite3';
import type { ServiceProcess } from './service-process.ts';
import { until } from './until.ts';

/** Stops the process at a moment when it does not hold the lock of the database: nobody else could write until it goes on. */
export async function freeze(service: Pick<ServiceProcess, 'pid' | 'signal'>, databasePath: string): Promise<void> {
  await until('it is stopped between two commits', async () => {
    service.signal('SIGSTOP');
    await until('it is stopped', () => stateOf(service.pid).startsWith('T'));
    const db = new BetterSqlite3(databasePath, { timeout: 100 });
    try {
      db.exec('begin immediate; rollback');
      return true;
    } catch {
      service.signal('SIGCONT');
      return false;
    } finally {
      db.close();
    }
  });
}

function stateOf(pid: number): string {
  return spawnSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}
