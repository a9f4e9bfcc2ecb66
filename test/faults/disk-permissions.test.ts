import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { script } from '../e2e/world.ts';
import { launchService, type ServiceProcess } from '../support/service-process.ts';
import { tempDir } from '../support/temp-dir.ts';
import { told, verifyFile } from '../verify/verify-file.ts';
import { readiness } from './outage.ts';
import { startPlainClients } from './persistent-client.ts';

/* Root may write whatever the permissions say, so for root the service runs as somebody else. */

const NOBODY = 65_534;
const uid = process.getuid?.() === 0 ? NOBODY : undefined;

function mayRun(): boolean {
  if (uid === undefined) return true;
  const program = fileURLToPath(new URL('../../src/main.js', import.meta.url));
  const read = `require('node:fs').accessSync(${JSON.stringify(program)})`;
  return spawnSync(process.execPath, ['-e', read], { uid, cwd: '/' }).status === 0;
}

const skip = mayRun() ? false : 'the user that this would run as may not read the program';

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

interface House {
  /** Of the database, and of its folder. */
  readonly path: string;
  readonly folder: string;
  launch(): ServiceProcess;
}

function openHouse(t: TestContext): House {
  // Before the folder goes, so that what was forbidden can be deleted.
  t.after(() => chmodSync(folder, 0o700));
  const directory = tempDir(t);
  const folder = join(directory, 'data');
  mkdirSync(folder);
  if (uid !== undefined) for (const each of [directory, folder]) chownSync(each, uid, uid);
  const path = join(folder, 'connector.db');
  return {
    ...{ path, folder },
    launch() {
      const settings = { A2A_AUTH: 'anonymous', AGENT: agentModule(), DATABASE_URL: `sqlite:${path}` };
      const service = launchService({ directory, settings, ...(uid === undefined ? {} : { uid }) });
      t.after(() => service.signal('SIGKILL'));
      return service;
    },
  };
}

function agentModule(): string {
  return `module:${fileURLToPath(new URL('../e2e/agents/review.js', import.meta.url))}`;
}

async function finish(service: ServiceProcess) {
  const { task, text } = await clients.at(service).rpc('SendMessage', script(['complete Done.']));
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED', text);
  return task;
}

const FORBIDDEN: Readonly<Record<string, (house: House) => readonly [target: string, mode: number]>> = {
  'the database file': ({ path }) => [path, 0o400],
  'its folder': ({ folder }) => [folder, 0o500],
};

for (const [what, of] of Object.entries(FORBIDDEN)) {
  test(`disk: ${what} becomes read-only: what runs goes on, a start is refused and says what to do`, {
    skip,
  }, async (t) => {
    const house = openHouse(t);
    const service = house.launch();
    await service.ready();
    const before = await finish(service);
    const [target, mode] = of(house);
    chmodSync(target, mode);
    const after = await finish(service);
    assert.equal((await readiness(service)).status, 200, 'the files that it has open are its own');
    chmodSync(target, 0o700);
    service.signal('SIGTERM');
    assert.equal(await service.exited(), 0);

    chmodSync(target, mode);
    const refused = house.launch();
    assert.equal(await refused.exited(), 1, refused.output());
    assert.match(refused.output(), /^DATABASE_URL: .*; let this user read and write it, its folder/m);

    chmodSync(target, 0o700);
    const second = house.launch();
    await second.ready();
    for (const task of [before, after]) assert.deepEqual((await clients.at(second).get(task.id)).task, task);
    await finish(second);
    second.signal('SIGTERM');
    assert.equal(await second.exited(), 0);
    assert.deepEqual(told(await verifyFile(house.path, Date.now())), []);
  });
}
