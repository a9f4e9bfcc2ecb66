import type { TestContext } from 'node:test';
import { after, before, describe, test } from 'node:test';
import type { StoreFault } from '../../core/errors.ts';
import { holdLock, type Trouble } from '../support/hold-lock.ts';
import { injectErrors, limitFileSize, smallDisk, withoutMounts, withoutStrace } from './disk-faults.ts';
import { rideOut } from './outage.ts';
import { startPlainClients } from './persistent-client.ts';
import { createStage, POLICIES } from './stage.ts';

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

interface Kind {
  readonly fault: StoreFault;
  readonly skip?: string | false;
  /** Answers where the database is to be, if that matters, and how it begins. */
  prepare(t: TestContext): { readonly path?: string; begin(pid: number, path: string): Promise<Trouble> };
}

const KINDS: Readonly<Record<string, Kind>> = {
  'another process holds the write lock': {
    fault: 'locked',
    prepare: (t) => ({ begin: (_pid, path) => holdLock(t, path) }),
  },
  'no room is left on the file system (ENOSPC)': {
    fault: 'full',
    skip: withoutMounts,
    prepare(t) {
      const disk = smallDisk(t);
      return { path: `${disk.folder}/connector.db`, begin: () => disk.fill() };
    },
  },
  'files may not grow any more (EFBIG)': {
    fault: 'failing',
    prepare: () => ({ begin: (pid) => limitFileSize(pid, 4_096) }),
  },
  'the file system has become read-only (EROFS)': {
    fault: 'failing',
    skip: withoutStrace,
    prepare: (t) => ({ begin: (pid) => injectErrors(t, pid, { calls: 'pwrite64', errno: 'EROFS' }) }),
  },
  'the disk takes writes and does not keep them (EIO of the flush)': {
    fault: 'failing',
    skip: withoutStrace,
    prepare: (t) => ({ begin: (pid) => injectErrors(t, pid, { calls: 'fsync,fdatasync', errno: 'EIO' }) }),
  },
};

/** A lease that outlasts the trouble, and one that does not. */
const WITHIN = { LEASE_MS: '30000' };
const PAST = { LEASE_MS: '1500' };

describe('a database that cannot be written for a while', { concurrency: 4 }, () => {
  for (const [name, { fault, skip = false, prepare }] of Object.entries(KINDS)) {
    const outage = (t: TestContext, policy: 'rerun' | 'review', settings: Readonly<Record<string, string>>) => {
      const { path, begin } = prepare(t);
      const stage = createStage(t, policy, path === undefined ? {} : { DATABASE_URL: `sqlite:${path}` });
      const { at } = clients;
      return { stage, at, policy, settings, fault, begin: ({ pid }: { pid: number }) => begin(pid, stage.path) };
    };

    test(
      `disk: ${name}: nothing is accepted, readiness says so, and a turn that ran ends when it is over`,
      { skip },
      (t) => rideOut(outage(t, 'review', WITHIN), { state: 'COMPLETED', runs: 1, effects: 1 }),
    );

    for (const policy of POLICIES) {
      test(`disk: ${name}, for longer than a lease, ${policy} agent: one end, nothing twice`, { skip }, (t) =>
        rideOut(outage(t, policy, PAST), {
          ...(policy === 'rerun'
            ? { state: 'COMPLETED', runs: 2, effects: 1 }
            : { state: 'FAILED', runs: 1, effects: 0 }),
          endsAfter: 'turn.abandoned',
        }),
      );
    }
  }
});
