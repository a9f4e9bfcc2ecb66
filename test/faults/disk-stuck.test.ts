import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { launchService, type ServiceProcess } from '../support/service-process.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

/** A service whose store stands still, with a write under way. */
async function stuckService(t: TestContext, settings: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const directory = tempDir(t);
  const service = launchService({
    directory,
    settings: { A2A_AUTH: 'anonymous', ...settings },
    preload: [new URL('./stuck-disk.js', import.meta.url).href],
  });
  t.after(() => service.signal('SIGKILL'));
  await service.ready();
  assert.equal(spawnSync('mkfifo', [join(directory, 'stuck')]).status, 0);
  await until('the store says nothing', async () => {
    const ready = await fetch(`${service.origin}/readyz`);
    return (await ready.text()).includes('store silent');
  });
  return service;
}

describe('a disk that does not answer', { concurrency: 2 }, () => {
  test('a second SIGTERM ends the service all the same', async (t) => {
    const service = await stuckService(t, {});
    service.signal('SIGTERM');
    await service.logged('service.stopping');
    service.signal('SIGTERM');
    assert.equal(await service.exited(), 'SIGKILL');
    assert.ok(!service.log().some(({ event }) => event === 'service.stop_late'));
  });

  test('the drain ends, and the log says why it was cut short', async (t) => {
    const service = await stuckService(t, { DRAIN_MS: '1000' });
    service.signal('SIGTERM');
    assert.equal(await service.exited(), 'SIGKILL', service.output());
    assert.ok(service.log().some(({ event }) => event === 'service.stop_late'));
  });
});
