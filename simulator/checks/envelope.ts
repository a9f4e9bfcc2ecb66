import { randomUUID } from 'node:crypto';
import type { RpcAnswer } from '../client/calls.ts';
import { legacyAssignmentParams } from '../client/messages.ts';
import { isObject, parseJson } from '../json.ts';
import { AGENT_ACCOUNT, ALICE } from '../site/people.ts';
import { brief, type Check, must, mustBeTaken } from './check.ts';

const MB = 1024 * 1024;

/** HTTP 200, the code, the id as it was sent. */
function mustAnswer(answer: RpcAnswer, codes: readonly number[], what: string): void {
  must(answer.status === 200, `${what}: HTTP ${answer.status}`);
  must(
    answer.error !== undefined && codes.includes(answer.error.code),
    `${what}: ${answer.error?.code ?? brief(answer.text)}`,
  );
  must(answer.faults.length === 0, `${what}: ${answer.faults[0]}`);
}

export const ENVELOPE_CHECKS: readonly Check[] = [
  {
    id: 'envelope.id',
    rule: 'Every answer echoes the id exactly: a string, 0, the empty string',
    async run({ client }) {
      for (const id of [randomUUID(), 0, '', 7] as const)
        mustAnswer(await client.get(randomUUID(), { id }), [-32001], JSON.stringify(id));
      return 'echoed, HTTP 200';
    },
  },
  {
    id: 'envelope.parse',
    rule: 'Broken JSON is -32700 with id null and HTTP 200, after authentication',
    async run({ client }) {
      mustAnswer(
        await client.rpc('GetTask', {}, { body: '{"jsonrpc":"2.0","id":7,', id: null }),
        [-32700],
        'broken JSON',
      );
      mustAnswer(await client.rpc('GetTask', {}, { body: '[]', id: null }), [-32600], 'an array');
      return '-32700, -32600';
    },
  },
  {
    id: 'envelope.method',
    rule: 'An unknown method is -32601 with HTTP 200',
    async run({ client }) {
      mustAnswer(await client.rpc('Foo', {}), [-32601], 'Foo');
      return '-32601';
    },
  },
  {
    id: 'envelope.invalid',
    rule: 'A message without messageId, role or parts is -32602 with HTTP 200',
    async run({ client }) {
      const { message, ...rest } = client.chat('Hello').params;
      const send = (changed: object) => client.rpc('SendMessage', { ...rest, message: { ...message, ...changed } });
      mustAnswer(await send({ role: undefined }), [-32602], 'no role');
      mustAnswer(await send({ parts: [] }), [-32602], 'no parts');
      mustAnswer(await send({ parts: [{}] }), [-32602], 'a part of nothing');
      mustAnswer(await client.rpc('SendMessage', rest), [-32602], 'no message');
      return '-32602 for each';
    },
  },
  {
    id: 'envelope.legacy',
    rule: 'message/send of 0.3 is answered with a clear error',
    async run({ client, item }) {
      const params = legacyAssignmentParams({ user: ALICE, agent: AGENT_ACCOUNT, item: item() });
      const answer = await client.rpc('message/send', params, { a2aVersion: null });
      mustAnswer(answer, [-32601, -32009], 'message/send');
      return `${answer.error?.code}: ${answer.error?.message}`;
    },
  },
  {
    id: 'envelope.version',
    rule: 'A call without A2A-Version is taken as 1.0',
    async run({ client }) {
      const answer = await client.chat('Hello').sync({ a2aVersion: null });
      return `answered: ${mustBeTaken(answer, 'no version')}`;
    },
  },
  {
    id: 'envelope.1mb',
    rule: 'A body of 1 MB is accepted',
    async run({ client }) {
      const answer = await client.chat(`Summarize: ${'lantern '.repeat(MB / 8)}`).sync();
      return `HTTP ${answer.status}, ${mustBeTaken(answer, `HTTP ${answer.status}`)}`;
    },
  },
  {
    id: 'envelope.5mb',
    rule: 'A body over 5 MB is refused with a JSON-RPC error, the connection closed cleanly',
    async run({ client }) {
      mustBeTaken(await client.chat('x').sync(), 'a small body');
      const answer = await client.chat('x'.repeat(5.5 * MB)).sync();
      must(answer.status === 200 || answer.status === 413, `HTTP ${answer.status}`);
      const json = parseJson(answer.text);
      must(isObject(json) && isObject(json.error), `no JSON-RPC error: ${brief(answer.text)}`);
      return `HTTP ${answer.status}, ${String(json.error.code)}`;
    },
  },
  {
    id: 'envelope.headers',
    rule: '20 KB of headers (three tokens) are accepted',
    async run({ client }) {
      const headers = { 'x-forge-oauth-system': 'x'.repeat(20 * 1024) };
      const answer = await client.chat('Hello').sync({ headers });
      must(answer.status === 200, `HTTP ${answer.status}`);
      return `HTTP 200, ${mustBeTaken(answer, '20 KB of headers')}`;
    },
  },
  {
    id: 'envelope.redirect',
    rule: 'A trailing slash is not answered with a redirect',
    async run({ client, url }) {
      const answer = await client.get(randomUUID(), { url: `${url}/` });
      must(answer.status < 300 || answer.status >= 400, `HTTP ${answer.status} to ${answer.headers.location}`);
      return `HTTP ${answer.status}`;
    },
  },
];
