import assert from 'node:assert/strict';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { after, before, describe, test } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { script } from '../e2e/world.ts';
import { startPlainClients } from './persistent-client.ts';
import { createStage, type Stage } from './stage.ts';

/* A start on a file that cannot be worked with is refused before anything is served, and leaves the file as it was. */

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

const PAGE = 4_096;
const TASKS = 30;

/** A database that a service has filled and closed. */
async function fill(stage: Stage): Promise<void> {
  const service = await stage.start();
  const client = clients.at(service);
  const text = 'complete '.padEnd(2_000, 'x');
  const answers = await Promise.all(Array.from({ length: TASKS }, () => client.rpc('SendMessage', script([text]))));
  for (const { task, text: said } of answers) assert.equal(task?.status.state, 'TASK_STATE_COMPLETED', said);
  service.signal('SIGTERM');
  assert.equal(await service.exited(), 0);
}

function overwrite(path: string, bytes: Buffer, position: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}

/** A page of the tree that holds the events, which every task reads. */
function pageOf(path: string, table: string): number {
  const db = new BetterSqlite3(path);
  try {
    const root = db
      .prepare<[string], { rootpage: number }>('select rootpage from sqlite_schema where name = ?')
      .get(table);
    return root?.rootpage ?? 0;
  } finally {
    db.close();
  }
}

const DAMAGED = /^DATABASE_URL: .*damaged.*; restore a backup/m;

interface Refusal {
  readonly damage: (path: string) => void;
  readonly says: RegExp;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  'has a header of something else': {
    damage: (path) => overwrite(path, Buffer.from('PK\u0003\u0004 not what it was, and more of it'), 0),
    says: DAMAGED,
  },
  'is something else altogether': {
    damage: (path) => writeFileSync(path, 'a letter to grandmother '.repeat(400)),
    says: DAMAGED,
  },
  'ends in the middle of a page': {
    damage: (path) => truncateSync(path, statSync(path).size - PAGE - 100),
    says: DAMAGED,
  },
  'has lost its second half': {
    damage: (path) => truncateSync(path, Math.floor(statSync(path).size / PAGE / 2) * PAGE),
    says: DAMAGED,
  },
  'has flipped bytes in the middle': {
    damage(path) {
      const at = (pageOf(path, 'event') - 1) * PAGE;
      const page = readFileSync(path).subarray(at, at + 64);
      overwrite(path, Buffer.from(page.map((byte) => byte ^ 0xff)), at);
    },
    says: DAMAGED,
  },
  'is of a newer program': {
    damage(path) {
      const db = new BetterSqlite3(path);
      db.prepare("insert into migration values (999, 'of tomorrow', 1, 0)").run();
      db.close();
    },
    says: /^DATABASE_URL: the database has schema version 999 \(of tomorrow\), this program knows \d+: start the newer program/m,
  },
  'is a folder': {
    damage(path) {
      rmSync(path);
      mkdirSync(path);
    },
    says: /^DATABASE_URL: .*cannot be used \(EISDIR.*; name a file/m,
  },
};

describe('a start on a file that cannot be worked with', { concurrency: 3 }, () => {
  for (const [what, { damage, says }] of Object.entries(REFUSALS)) {
    test(`start: a database that ${what} is refused, saying what to do, and left as it is`, async (t) => {
      const stage = createStage(t, 'review');
      await fill(stage);
      damage(stage.path);
      const isFile = statSync(stage.path).isFile();
      const before = isFile ? readFileSync(stage.path) : undefined;
      const service = stage.launch();
      assert.equal(await service.exited(), 1, service.output());
      assert.match(service.output(), says);
      assert.doesNotMatch(service.output(), /^ +at /m, 'no stack: it is somebody’s to mend');
      assert.deepEqual(service.log(), [], 'it did not listen');
      if (before) assert.ok(before.equals(readFileSync(stage.path)), 'nothing was written');
    });
  }
});
