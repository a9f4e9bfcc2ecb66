import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launchService } from '../support/service-process.ts';
import { tempDir } from '../support/temp-dir.ts';

/*
 * Objects of one kind share a hidden class in V8, and everything that is quick about them rests on that. A key that follows
 * a spread (`{ ...one, key }`) makes a class of its own for each object, as does an accessor in a literal: nothing fails,
 * and a message takes a fifth longer. V8 tells of each class that it makes, so they can be counted.
 */

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

/** A class that no later object will share, or a hash table in the place of one. */
const UNSHARED = /^map,(?:Transition(?:,[^,]*){6},prototype,|Normalize(?:Cached)?,)/gm;

/** How many the event loop and the thread that writes have made, from the start to the end, for so many messages. */
async function unsharedAfter(t: TestContext, method: string, messages: number): Promise<number> {
  const directory = tempDir(t);
  const service = launchService({
    directory,
    settings: { A2A_AUTH: 'anonymous', AGENT: `module:${path('bench/echo-agent.js')}` },
    program: ['--log-maps', `--logfile=${join(directory, 'v8.log')}`, '--logfile-per-isolate', path('src/main.js')],
  });
  await service.ready();
  for (let n = 0; n < messages; n += 1) {
    const message = { messageId: `m${n}`, role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const response = await fetch(`${service.origin}/a2a`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: n, method, params: { message } }),
    });
    assert.match(await response.text(), /TASK_STATE_COMPLETED/);
  }
  service.signal('SIGTERM');
  assert.equal(await service.exited(), 0);
  const logs = readdirSync(directory).filter((name) => name.endsWith('v8.log'));
  assert.equal(logs.length, 2, 'a log of the event loop and one of the thread');
  const found = logs.map((name) => readFileSync(join(directory, name), 'utf8').match(UNSHARED)?.length ?? 0);
  return found.reduce((sum, count) => sum + count, 0);
}

for (const method of ['SendMessage', 'SendStreamingMessage']) {
  test(`hidden classes: a message makes none, by ${method}`, async (t) => {
    const few = await unsharedAfter(t, method, 100);
    const many = await unsharedAfter(t, method, 300);
    assert.ok(few > 0, 'the engine tells of those that a start makes');
    const each = (many - few) / 200;
    assert.ok(each < 0.5, `${each} for each message`);
  });
}
