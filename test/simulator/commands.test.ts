import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Task, TaskState } from '../../simulator/client/a2a.ts';
import { ANY_PORTS, endAll, type Run, run } from './command.ts';

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly response: ServerResponse;
}

const task = (state: TaskState, text = ''): Task => ({
  id: 't1',
  contextId: 'c1',
  status: { state, ...(text === '' ? {} : { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } }) },
});
const answer = ({ id, method, response }: Call, seen: Task): void => {
  const result = method === 'SendMessage' ? { task: seen } : seen;
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
};
const refuse =
  (status: number) =>
  ({ response }: Call): void =>
    void response.writeHead(status, { 'content-type': 'text/plain' }).end('no');

describe('simulator commands', () => {
  let respond: (call: Call) => void;
  let url: string;
  let simulator: Run;
  let controlPort: string;
  const agent = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    respond({ ...(JSON.parse(text) as { id: unknown; method: string }), response });
  });
  before(async () => {
    await once(agent.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(agent.address() as AddressInfo).port}/rovo/a2a`;
    // Polls come every 50 ms; `--url` given here holds for the commands.
    simulator = run('serve', ...ANY_PORTS, '--url', url, '--time-scale', '1000');
    controlPort = (await simulator.until(/on port (\d+)/))[1] ?? '';
  });
  afterEach(() => agent.closeAllConnections());
  after(async () => {
    simulator.process.kill('SIGTERM');
    assert.equal(await simulator.exit, 0);
    agent.close();
    endAll();
  });
  const command = (...words: readonly string[]): Run => run(...words, '--control-port', controlPort);
  const say = async (...words: readonly string[]) => {
    const said = command(...words);
    return { code: await said.exit, text: said.output() };
  };

  it('serve: shows the ports and the URL in use', () => {
    const text = simulator.output();
    assert.ok(text.includes(`assign SHOP-1 --as alice --control-port ${controlPort}\n`), text);
    assert.ok(text.includes(`PORT=${new URL(url).port}\n`) && text.includes(`at ${url} (--url)`), text);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`the first ${signal} ends a waiting command with 130, and its call to the agent with it`, async () => {
      const called = new Promise<Call>((resolve) => {
        respond = resolve;
      });
      const waiting = command('chat', 'Hello', '--time-scale', '1');
      const { response } = await called;
      const dropped = once(response, 'close');
      waiting.process.kill(signal);
      assert.equal(await waiting.exit, 130);
      await dropped;
    });
  }

  it('a polled task: each change is printed, a permission it waits for in whole and with what to do', async () => {
    const states: readonly Task[] = [
      task('TASK_STATE_WORKING', 'Reading'),
      task('TASK_STATE_AUTH_REQUIRED', 'I need your permission.\n\n1. Open [settings](https://x.example/apps).'),
      task('TASK_STATE_AUTH_REQUIRED', 'I need your permission.\n\n1. Open [settings](https://x.example/apps).'),
      task('TASK_STATE_COMPLETED', 'Done'),
    ];
    let calls = 0;
    respond = (call) => answer(call, states[calls++] ?? task('TASK_STATE_FAILED'));
    const { code, text } = await say('assign', 'SHOP-1', '--as', 'bob');
    assert.equal(code, 0, text);
    assert.match(text, /^bob → http.*\ntask t1 {2}context c1\n {2}working: Reading\n {2}auth_required, /);
    assert.match(text, / {4}I need your permission\.\n\n {4}1\. Open \[settings\]\(https:\/\/x\.example\/apps\)\.\n/);
    assert.ok(text.includes(`get t1 --as bob --user-token fresh --control-port ${controlPort}\n`), text);
    assert.equal(text.match(/auth_required/g)?.length, 1);
    assert.match(text, /fresh --control-port \d+\n {2}completed, offered as a comment:\n {4}Done\n$/);
  });

  it('polls that get no answer to work with are said when they begin, not at the end', async () => {
    let calls = 0;
    respond = (call) => {
      calls += 1;
      if (calls === 1) answer(call, task('TASK_STATE_WORKING'));
      else if (calls < 4) refuse(503)(call);
      else if (calls < 6) call.response.destroy();
      else answer(call, task('TASK_STATE_COMPLETED'));
    };
    const { code, text } = await say('assign', 'SHOP-1', '--time-scale', '100');
    assert.equal(code, 0, text);
    assert.equal(text.match(/! HTTP 503: not ready.*: asked again every 0\.1 s, for \d+ s more\n/g)?.length, 1, text);
    assert.equal(text.match(/! nobody is there \(ECONNRESET\): asked again/g)?.length, 1, text);
  });

  it('a lifecycle event says at once when it is tried again', async () => {
    let calls = 0;
    respond = (call) => {
      calls += 1;
      call.response.writeHead(calls === 1 ? 503 : 200).end();
    };
    const { code, text } = await say('install');
    assert.equal(code, 0, text);
    assert.match(text, /^install → http:\S+\/rovo\/\nHTTP 503: [^\n]*; next try in 0\.1 s\nHTTP 200, after \d+ ms\n$/);
  });

  for (const [status, pattern] of [
    [401, /does not trust this simulator: compare FORGE_APP_ID/],
    [404, /no agent at this path \(http\S+\); is it …\/rovo\/a2a/],
    [503, /HTTP 503: not ready/],
  ] as const) {
    it(`HTTP ${status} is explained, in one line and by a stream alike`, async () => {
      respond = refuse(status);
      for (const words of [
        ['chat', 'Hello'],
        ['chat', 'Hello', '--stream'],
        ['get', 't1'],
        ['subscribe', 't1'],
      ]) {
        const { code, text } = await say(...words);
        assert.equal(code, 1, text);
        assert.match(text, pattern);
        assert.equal(text.match(/^ {2}!/gm)?.length, 1, text);
        assert.doesNotMatch(text, /would refuse|envelope|JSON/);
      }
    });
  }

  it('what does not exist is answered with what does, and not with doubts about the agent', async () => {
    respond = () => assert.fail('nobody is to be called');
    for (const [words, pattern] of [
      [['assign', 'SHOP-99', '--as', 'bob'], /no work item SHOP-99 on this site; bob sees SHOP-1, SHOP-2/],
      [['assign', 'SHOP-1', '--as', 'carol'], /carol cannot see SHOP-1.*carol sees none/],
      [['chat', 'Hello', '--as', 'zoe'], /nobody on this site is called zoe; there are alice, bob, carol\n/],
      [['chat', 'Hello', '--site', 'moon'], /no site is called moon; there are lantern, harbor\n/],
    ] as const) {
      const { code, text } = await say(...words);
      assert.equal(code, 1);
      assert.match(text, pattern);
      assert.doesNotMatch(text, /is the agent running/);
    }
  });

  it('an agent that is not there is asked about', async () => {
    const { code, text } = await say('chat', 'Hello', '--url', 'http://127.0.0.1:9/rovo/a2a');
    assert.equal(code, 1);
    assert.match(text, /ECONNREFUSED.*\(is the agent running, and does --url name it\?\)/);
  });

  it('a wrong command line costs two lines and 64', async () => {
    for (const [words, pattern] of [
      [['dance'], /^there is no command dance; there are serve, check, assign, /],
      [['assign'], /^assign needs a work item\n/],
      [['outage'], /^outage needs one of none, error, refuse, hang\n/],
      [['chat', 'Hello', '--nope'], /^Unknown option '--nope'\n/],
      [['check', '--only', 'stram'], /^--only stram: no row or group is called that; groups: .*stream/],
      [['check', '--skip', 'task.nope'], /^--skip task\.nope: .*rows of task: task\.assignment/],
    ] as const) {
      const { code, text } = await say(...words);
      assert.equal(code, 64, text);
      assert.match(text, pattern);
      assert.match(text, /^[^\n]*\nnpm run simulator -- --help [^\n]*\n$/);
    }
  });

  it('long answers are cut and their folds closed, --full prints them in whole', async () => {
    const text = 'Short.\n\n<details><summary>More</summary>\n\nhidden\n\n</details>';
    const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`).join('\n');
    const artifacts = [{ artifactId: 'a', parts: [{ text: lines }] }];
    respond = (call) => answer(call, { ...task('TASK_STATE_COMPLETED', text), artifacts });
    const cut = (await say('chat', 'Hello')).text;
    assert.match(cut, / {4}line 20\n {4}… 30 more lines, --full shows them\n/);
    assert.match(cut, / {4}Short\.\n\n {4}\[folded: More; --full shows it\]\n$/);
    const full = (await say('chat', 'Hello', '--full')).text;
    assert.ok(full.includes('    line 50\n') && full.includes('    hidden\n'), full);
  });

  it('check: says at once what it waits for', async () => {
    respond = refuse(401);
    const check = run('check', '--url', url, ...ANY_PORTS);
    await check.until(/does not trust this simulator: compare FORGE_APP_ID[^\n]*\n {2}waiting for it for \d+ s more\n/);
    check.process.kill('SIGINT');
    assert.equal(await check.exit, 130);
  });

  it('output that nobody reads any more ends a command quietly', async () => {
    const help = run('--help');
    help.process.stdout.destroy();
    assert.deepEqual([await help.exit, help.output()], [0, '']);
  });
});
