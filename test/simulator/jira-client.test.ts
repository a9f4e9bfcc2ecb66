import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { decodeJwt } from 'jose';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import type { StreamResponse, TaskState } from '../../simulator/client/a2a.ts';
import { AGENT_MENTION } from '../../simulator/client/jira-client.ts';
import { at } from './at.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly jsonrpc: string; readonly id: unknown; readonly method: string; readonly params: unknown };
}
type Respond = (received: Received, response: ServerResponse) => void;

const task = (state: TaskState) => ({ id: 't1', contextId: 'c1', status: { state } });
const frames = (response: ServerResponse, id: unknown, ...events: readonly StreamResponse[]): void => {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const result of events) response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
};
const update = (state: TaskState): StreamResponse => ({
  statusUpdate: { taskId: 't1', contextId: 'c1', status: { state } },
});
const chunk = (text: string, append: boolean): StreamResponse => ({
  artifactUpdate: { taskId: 't1', contextId: 'c1', artifact: { artifactId: 'a', parts: [{ text }] }, append },
});

describe('Jira as the client', () => {
  const received: Received[] = [];
  let respond: Respond;
  let atlassian: Atlassian;
  let url: string;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text) };
    received.push(one);
    respond(one, response);
  });
  const answer = (response: ServerResponse, id: unknown, result: unknown): void =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }));

  beforeEach(async () => {
    received.length = 0;
    atlassian = await startAtlassian({ timeScale: 1_000 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rovo/a2a`;
    respond = ({ body }, response) => answer(response, body.id, { task: task('TASK_STATE_COMPLETED') });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await Promise.all([atlassian.close(), new Promise((resolve) => server.close(resolve))]);
  });
  const client = () => atlassian.client({ url });

  it('prints an assignment with the defaults of the proto and both accounts', async () => {
    await client().assign('SHOP-1').sync();
    const [{ body } = assert.fail()] = received;
    const agentAccountId = atlassian.site.records.item('SHOP-1')?.assignee;
    const description = String(at(body, 'params.message.parts.1.data.issue.fields.description'));
    assert.match(description, /^Steps\nEnter a valid code at checkout\.\n/);
    const summary = 'Discount code is not reflected in the total';
    const text = `You have been assigned to a work item "${summary}". Analyze the details of the work item and get started.`;
    const data = {
      userAccountId: atlassian.site.records.person('alice').accountId,
      agentAccountId,
      invocationType: 'ISSUE_ASSIGNMENT',
      issue: { id: '10001', fields: { key: 'SHOP-1', summary, description } },
    };
    const message = {
      messageId: at(body, 'params.message.messageId'),
      contextId: '',
      taskId: '',
      role: 'ROLE_USER',
      parts: [
        { text, filename: '', mediaType: '' },
        { data, filename: '', mediaType: '' },
      ],
      extensions: [],
      referenceTaskIds: [],
    };
    const params = { tenant: '', message, configuration: { acceptedOutputModes: [], returnImmediately: false } };
    assert.deepEqual(body, { jsonrpc: '2.0', id: body.id, method: 'SendMessage', params });
  });

  it('writes a mention into the work item first and sends it as markdown', async () => {
    await client().mention('SHOP-1', 'why?', { as: 'bob' }).sync();
    const data = at(received[0]?.body, 'params.message.parts.1.data');
    assert.equal(at(data, 'invocationType'), 'ISSUE_COMMENT_MENTION');
    assert.equal(at(data, 'comment.body'), `${AGENT_MENTION} why?`);
    const stored = atlassian.site.records.item('SHOP-1')?.comments.at(-1);
    assert.equal(stored?.id, at(data, 'comment.id'));
    assert.match(JSON.stringify(stored?.body), /"type":"mention"/);
  });

  it('sends chat as text alone, a follow-up with its context, an automation without a work item', async () => {
    await client().chat('Hello').sync();
    await client().chat('Go on', { contextId: 'c1' }).sync();
    await client().automation('Weekly').sync();
    const [chat, followUp, automation] = received.map(({ body }) => at(body, 'params.message'));
    assert.deepEqual([at(chat, 'parts.length'), at(chat, 'contextId')], [1, '']);
    assert.equal(at(followUp, 'contextId'), 'c1');
    assert.deepEqual(at(automation, 'parts.1.data.automation'), { prompt: 'Weekly' });
    assert.equal(at(automation, 'parts.1.data.issue'), undefined);
  });

  it('brings a new invocation token with every call, the same user token until a fresh one is asked for', async () => {
    const invocation = client().chat('Hello');
    await invocation.sync();
    await invocation.sync();
    await invocation.sync({ userToken: 'fresh' });
    await invocation.sync({ userToken: 'none', a2aVersion: null });
    const jtis = received.map(({ headers }) => decodeJwt(String(headers.authorization).slice(7)).jti);
    assert.equal(new Set(jtis).size, 4);
    const tokens = received.map(({ headers }) => headers['x-forge-oauth-user']);
    assert.ok(tokens[0] !== undefined && tokens[0] === tokens[1] && tokens[2] !== tokens[0] && tokens[3] === undefined);
    assert.deepEqual(
      received.map(({ headers }) => headers['a2a-version']),
      ['1.0', '1.0', '1.0', undefined],
    );
    assert.match(String(received[0]?.headers['x-b3-traceid']), /^[0-9a-f]{32}$/);
    assert.equal(new Set(received.map(({ body }) => at(body, 'params.message.messageId'))).size, 1);
  });

  it('refuses what a person could not do in Jira, unless it is forced, and then tells nothing of the item', async () => {
    assert.throws(() => client().assign('PAY-1', { as: 'bob' }), /bob cannot see PAY-1/);
    await client().assign('PAY-1', { as: 'bob', force: true }).sync();
    assert.deepEqual(at(received[0]?.body, 'params.message.parts.1.data.issue.fields'), {
      key: 'PAY-1',
      summary: '',
      description: '',
    });
  });

  it('polls while the task is submitted, working or auth-required, and not when it waits for the person', async () => {
    const states: TaskState[] = [
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_AUTH_REQUIRED',
      'TASK_STATE_WORKING',
      'TASK_STATE_INPUT_REQUIRED',
    ];
    respond = ({ body }, response) => {
      const next = task(states[received.length - 1] ?? 'TASK_STATE_COMPLETED');
      answer(response, body.id, body.method === 'SendMessage' ? { task: next } : next);
    };
    const tokens: number[] = [];
    const done = await client()
      .chat('Hello')
      .run({ userToken: (poll) => (tokens.push(poll) > 1 ? 'fresh' : 'current') });
    assert.deepEqual([done.states, done.polls, done.outcome], [states, 3, 'settled']);
    assert.deepEqual(tokens, [0, 1, 2, 3]);
    assert.deepEqual([received[1]?.body.method, received[1]?.body.params], ['GetTask', { tenant: '', id: 't1' }]);
  });

  it('polls on when nobody listens for a while', async () => {
    let refused = 0;
    respond = ({ body }, response) => {
      if (refused++ < 2) response.destroy();
      else answer(response, body.id, task('TASK_STATE_COMPLETED'));
    };
    const done = await client().poll('t1');
    assert.deepEqual([done.outcome, done.missed, done.polls], ['settled', 2, 3]);
  });

  it('gives up a synchronous call at its limit and says so', async () => {
    respond = () => {};
    const answered = await client().chat('Hello').sync({ limitMs: 50 });
    assert.deepEqual([answered.timedOut, answered.status], [true, 0]);
  });

  it('cuts a stream after so many events and puts the rest together by SubscribeToTask', async () => {
    let closed = (): void => {};
    const cut = new Promise<void>((resolve) => {
      closed = resolve;
    });
    respond = ({ body }, response) => {
      if (body.method === 'SendStreamingMessage') {
        response.on('close', () => closed());
        return frames(response, body.id, { task: task('TASK_STATE_WORKING') }, chunk('one', false));
      }
      assert.deepEqual(body.params, { tenant: '', id: 't1' });
      frames(
        response,
        body.id,
        { task: task('TASK_STATE_WORKING') },
        chunk('one two', false),
        update('TASK_STATE_COMPLETED'),
      );
      response.end();
    };
    const seen: string[] = [];
    const followed = await client()
      .chat('Hello')
      .follow({ cutAfterFrames: 2, onFrame: (frame) => seen.push(Object.keys(frame)[0] ?? '') });
    await cut;
    assert.deepEqual(
      followed.streams.map(({ end }) => end),
      ['cut', 'agent'],
    );
    assert.deepEqual([followed.outcome, followed.faults], ['settled', []]);
    assert.deepEqual(followed.task?.artifacts?.[0]?.parts, [{ text: 'one two' }]);
    assert.deepEqual(seen, ['task', 'artifactUpdate', 'task', 'artifactUpdate', 'statusUpdate']);
  });

  it('reports the longest silence, the comments and a lost connection', async () => {
    respond = ({ body }, response) => {
      frames(response, body.id, { task: task('TASK_STATE_WORKING') });
      setTimeout(() => response.write(': beat\n\n', () => response.destroy()), 60);
    };
    const stream = await client().chat('Hello').stream();
    assert.deepEqual([stream.end, stream.comments], ['lost', 1]);
    assert.ok(stream.maxSilenceMs >= 50 && stream.maxSilenceMs < 1_000);
  });

  it('reads a plain error in the place of a stream, and the limit of one', async () => {
    respond = ({ body }, response) => {
      const error = { code: -32001, message: 'no such task' };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: body.id, error }));
    };
    const refused = await client().subscribe('t1');
    assert.deepEqual([refused.streamed, refused.error?.code, refused.faults], [false, -32001, []]);
    respond = ({ body }, response) => frames(response, body.id, { task: task('TASK_STATE_WORKING') });
    const limited = await client().subscribe('t1', { limitMs: 60 });
    assert.deepEqual([limited.end, limited.frames.length], ['limit', 1]);
  });

  it('repeats a lifecycle event until it is answered with 2xx, and preUninstall not at all', async () => {
    respond = (_, response) => void response.writeHead(received.length < 3 ? 401 : 204).end();
    const installed = await client().install();
    assert.deepEqual(
      installed.attempts.map(({ status }) => status),
      [401, 401, 204],
    );
    assert.deepEqual([received[0]?.path, installed.delivered], ['/rovo/lifecycle', true]);
    const [id, context, eventType] = ['id', 'context', 'eventType'].map((name) => at(received[0]?.body, name));
    assert.deepEqual(
      [id, context, eventType],
      [atlassian.site.installation().id, `ari:cloud:jira::site/${atlassian.site.cloudId}`, 'avi:forge:installed:app'],
    );
    respond = (_, response) => void response.writeHead(500).end();
    const removed = await client().uninstall();
    assert.deepEqual([removed.attempts.length, received.at(-1)?.path], [1, '/rovo/pre-uninstall']);
  });
});
