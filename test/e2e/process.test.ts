import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launchService, type ServiceProcess } from '../support/service-process.ts';
import { tempDir } from '../support/temp-dir.ts';

/* What an agent can do to the process that it runs in. */

function agentModule(name: string): string {
  return `module:${fileURLToPath(new URL(`./agents/${name}.js`, import.meta.url))}`;
}

async function send(service: ServiceProcess, returnImmediately: boolean): Promise<Record<string, unknown>> {
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'go' }] };
  const response = await fetch(`${service.origin}/a2a`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', Connection: 'close' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message, configuration: { returnImmediately } },
    }),
  });
  return (await response.json()) as Record<string, unknown>;
}

/** It runs a turn that waits on nothing. */
async function busyService(t: TestContext): Promise<ServiceProcess> {
  const settings = { A2A_AUTH: 'anonymous', AGENT: agentModule('silent'), DRAIN_MS: '2000' };
  const service = launchService({ directory: tempDir(t), settings });
  t.after(() => service.signal('SIGKILL'));
  await service.ready();
  await send(service, true);
  await service.logged('task.transition');
  return service;
}

const eventsOf = (service: ServiceProcess) => service.log().map(({ event }) => event);

test('SIGTERM while a turn waits on nothing that keeps a process alive: it is drained and given back, then exit 0', async (t) => {
  const service = await busyService(t);
  service.signal('SIGTERM');
  assert.equal(await service.exited(), 0);
  assert.ok(eventsOf(service).includes('turn.interrupted'), service.output());
  assert.ok(eventsOf(service).includes('service.stopped'), service.output());
});

test('SIGINT, and another one at once as npm passes it on: it is drained all the same', async (t) => {
  const service = await busyService(t);
  service.signal('SIGINT');
  await service.logged('service.stopping');
  service.signal('SIGINT');
  assert.equal(await service.exited(), 0, service.output());
  assert.ok(eventsOf(service).includes('turn.interrupted'), service.output());
});

test('SIGINT behind a SIGTERM is no second Ctrl-C: it cuts the drain, and the log says so', async (t) => {
  const service = await busyService(t);
  service.signal('SIGTERM');
  await service.logged('service.stopping');
  service.signal('SIGINT');
  assert.equal(await service.exited(), 1, service.output());
  assert.ok(eventsOf(service).includes('service.stop_cut'), service.output());
});

test('rejections that nobody handles and nobody can print: the process and the turn go on', async (t) => {
  const settings = { A2A_AUTH: 'anonymous', AGENT: agentModule('careless') };
  const service = launchService({ directory: tempDir(t), settings });
  t.after(() => service.signal('SIGKILL'));
  await service.ready();
  assert.match(JSON.stringify(await send(service, false)), /TASK_STATE_COMPLETED.*still here/);
  assert.equal(service.log().filter(({ event }) => event === 'process.unhandled_rejection').length, 2);
});
