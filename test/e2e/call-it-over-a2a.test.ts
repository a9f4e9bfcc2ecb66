import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { launchService, type ServiceProcess } from '../support/service-process.ts';
import { type Issuer, startIssuer } from './issuer.ts';

/*
 * docs/call-it-over-a2a.md as a reader takes it: its settings start the service, and its blocks are run as they stand, with
 * the address of that service in place of the default one. The agent of docs/write-an-agent.md likewise.
 */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const page = readFileSync(join(ROOT, 'docs/call-it-over-a2a.md'), 'utf8');
const [open = '', guarded = ''] = page.split('\n## With tokens\n');
const run = promisify(execFile);
const inCi = process.env.CI === 'true';
const skip = spawnSync('curl', ['--version']).error && !inCi ? 'curl is not installed' : false;

function blocks(part: string, language: 'sh' | 'js'): readonly string[] {
  return [...part.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text = '']) =>
    name === language ? [text] : [],
  );
}

function settingsIn(block = ''): Record<string, string> {
  assert.match(block, /npm start\n$/);
  return Object.fromEntries([...block.matchAll(/([A-Z0-9_]+)=(\S+)/g)].map(([, key = '', value = '']) => [key, value]));
}

const directory = mkdtempSync(join(tmpdir(), 'connector-page-'));
const [startOpen, ...openCalls] = blocks(open, 'sh');
const [startGuarded, ...guardedCalls] = blocks(guarded, 'sh');
let issuer: Issuer;
let service: ServiceProcess;
let withTokens: ServiceProcess;
before(async () => {
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  issuer = await startIssuer();
  const settings = { ...settingsIn(startOpen), GRPC_PORT: '0', DATABASE_URL: 'sqlite:./open.db' };
  service = launchService({ directory, settings });
  const shown = settingsIn(startGuarded);
  assert.deepEqual(Object.keys(shown).sort(), Object.keys(issuer.env).sort());
  assert.equal(shown.A2A_TENANT_CLAIM, issuer.env.A2A_TENANT_CLAIM);
  withTokens = launchService({ directory, settings: { ...shown, ...issuer.env, DATABASE_URL: 'sqlite:./guarded.db' } });
  await Promise.all([service.ready(), withTokens.ready()]);
});
after(async () => {
  for (const each of [service, withTokens]) {
    each.signal('SIGTERM');
    await each.exited();
  }
  await issuer.close();
  rmSync(directory, { recursive: true });
});

const at = (text: string, { origin }: ServiceProcess): string => text.replaceAll('http://127.0.0.1:8080', origin);

async function shell(script: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run('bash', ['-euc', script], { env: { ...process.env, ...env } });
  return stdout;
}

async function client(name: string, text = ''): Promise<readonly string[]> {
  const file = join(directory, name);
  writeFileSync(file, at(text, service));
  const { stdout } = await run(process.execPath, [file]);
  return stdout.trimEnd().split('\n');
}

test('A2A page: each of its curl calls is answered as the page says', { skip }, async () => {
  const [card, send, get, stream, httpJson] = openCalls.map((call) => at(call, service));
  assert.equal(openCalls.length, 5);
  const { supportedInterfaces } = JSON.parse(await shell(card ?? ''));
  assert.deepEqual(
    supportedInterfaces.map(({ protocolBinding }: { protocolBinding: string }) => protocolBinding),
    ['JSONRPC', 'HTTP+JSON', 'GRPC', 'JSONRPC'],
  );
  const { task } = JSON.parse(await shell(send ?? '')).result;
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(JSON.parse(await shell(send ?? '')).result.task.id, task.id, 'the same message is the same task');
  const got = JSON.parse(await shell((get ?? '').replace('TASK=<id>', `TASK=${task.id}`)));
  assert.equal(got.result.id, task.id);
  assert.match(await shell(stream ?? ''), /^id: 1\ndata: \{"jsonrpc".*TASK_STATE_SUBMITTED[\s\S]*TASK_STATE_COMPLETED/);
  const answers = await shell(httpJson ?? '');
  assert.match(answers, /^\{"task":\{.*TASK_STATE_COMPLETED.*\}/);
  assert.match(answers, /\ndata: \{"statusUpdate":.*TASK_STATE_COMPLETED/);
  assert.match(answers, /\{"tasks":\[.*"totalSize":4\}\s*$/);
});

test("A2A page: its programs for the SDK get the agent's answer, over gRPC too", async () => {
  const [overHttp, overGrpc, ...more] = blocks(open, 'js');
  assert.deepEqual(more, []);
  const lines = await client('client.mjs', overHttp);
  assert.match(lines[0] ?? '', /^TASK_STATE_COMPLETED I read Jira work items/);
  assert.deepEqual([lines.at(-3), lines.at(-2), lines.at(-1)], ['task', 'statusUpdate', 'statusUpdate']);
  assert.deepEqual(await client('grpc.mjs', overGrpc), ['TASK_STATE_COMPLETED']);
});

test('A2A page: its call with a token is answered, and refused with another one', { skip }, async () => {
  assert.equal(guardedCalls.length, 1);
  const call = at(guardedCalls[0] ?? '', withTokens);
  const { result } = JSON.parse(await shell(call, { TOKEN: await issuer.token('alice') }));
  assert.equal(result.task.status.state, 'TASK_STATE_COMPLETED');
  const { error } = JSON.parse(await shell(call, { TOKEN: await issuer.token('alice', { audience: 'other' }) }));
  assert.equal(error.data[0].reason, 'UNAUTHENTICATED');
});

test('agent page: its agent, started as it says, answers its curl call', { skip }, async () => {
  const text = readFileSync(join(ROOT, 'docs/write-an-agent.md'), 'utf8');
  assert.match(text, /^ {4}A2A_AUTH=anonymous AGENT=module:\.\/my-agent\.mjs npm start$/m);
  writeFileSync(join(directory, 'my-agent.mjs'), blocks(text, 'js')[0] ?? '');
  const settings = { A2A_AUTH: 'anonymous', AGENT: 'module:./my-agent.mjs', DATABASE_URL: 'sqlite:./agent.db' };
  const own = launchService({ directory, settings });
  await own.ready();
  const { task } = JSON.parse(await shell(at(blocks(text, 'sh')[0] ?? '', own))).result;
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
  assert.deepEqual(task.artifacts[0].parts, [{ text: 'Hello\n' }]);
  own.signal('SIGTERM');
  await own.exited();
});
