import type { RpcOptions } from '../client/calls.ts';
import type { TokenOptions } from '../forge/invocation-token.ts';
import { isObject, parseJson } from '../json.ts';
import type { WorkItem } from '../site/model.ts';
import { type Bench, type Check, must, mustBeTaken, skip } from './check.ts';

const OTHER_APP = 'ari:cloud:ecosystem::app/99999999-2222-4333-8444-000000000000';
const nowS = (): number => Math.floor(Date.now() / 1000);

/** 401, a challenge, a body that is still JSON, and no task. */
async function mustBeRefused(bench: Bench, call: RpcOptions, what: string): Promise<void> {
  const answer = await bench.client.chat('A call that nobody may answer').sync(call);
  must(answer.status === 401, `${what}: HTTP ${answer.status}`);
  must(answer.headers['www-authenticate'] !== undefined, `${what}: 401 without WWW-Authenticate`);
  must(isObject(parseJson(answer.text)), `${what}: the body is no JSON`);
  must(answer.task === undefined, `${what}: a task came with the refusal`);
}

interface BadToken {
  readonly name: string;
  readonly rule: string;
  /** Called late: some of it depends on the time. */
  token(): TokenOptions;
}

const BAD_TOKENS: readonly BadToken[] = [
  {
    name: 'audience',
    rule: 'A token of another app, app.id and aud alike, is refused',
    token: () => ({ audience: OTHER_APP, claims: { app: { id: OTHER_APP } } }),
  },
  { name: 'expired', rule: 'An expired token is refused', token: () => ({ ageMs: 60_000 }) },
  { name: 'alg-none', rule: 'alg none is refused', token: () => ({ alg: 'none' }) },
  { name: 'hs256', rule: 'HS256 keyed with the public key is refused', token: () => ({ alg: 'HS256' }) },
  { name: 'es256', rule: 'ES256 is refused, even by a published key', token: () => ({ alg: 'ES256' }) },
  { name: 'issuer', rule: 'Another issuer is refused', token: () => ({ issuer: 'forge/other-token' }) },
  {
    name: 'future',
    rule: 'A token issued in the future is refused',
    token: () => ({ ageMs: -120_000, claims: { nbf: nowS() - 30 } }),
  },
  { name: 'not-before', rule: 'A token before its nbf is refused', token: () => ({ claims: { nbf: nowS() + 120 } }) },
  {
    name: 'unknown-kid',
    rule: 'A kid that is not published is refused',
    token: () => ({ kid: `nobody/${Math.random()}` }),
  },
  { name: 'no-kid', rule: 'A token without kid is refused', token: () => ({ kid: null }) },
];

const REQUIRED_CLAIMS = ['exp', 'iat', 'nbf', 'iss', 'aud', 'jti'] as const;

export const INVOCATION_TOKEN_CHECKS: readonly Check[] = [
  {
    id: 'token.valid',
    rule: 'A valid invocation token is accepted',
    async run({ client }) {
      const answer = await client.chat('Hello').sync();
      must(answer.status === 200, `HTTP ${answer.status}`);
      return `HTTP 200, ${mustBeTaken(answer, 'Hello')}`;
    },
  },
  {
    id: 'token.absent',
    rule: 'A call without a token is refused',
    async run(bench) {
      await mustBeRefused(bench, { authorization: null }, 'no Authorization');
      await mustBeRefused(bench, { authorization: 'Bearer x' }, 'a token that is none');
      return '401 with WWW-Authenticate';
    },
  },
  ...BAD_TOKENS.map(
    ({ name, rule, token }): Check => ({
      id: `token.${name}`,
      rule,
      async run(bench) {
        await mustBeRefused(bench, { invocationToken: token() }, name);
        return '401 with WWW-Authenticate';
      },
    }),
  ),
  {
    id: 'token.signature',
    rule: 'A token whose claims were changed after signing is refused',
    async run(bench) {
      const [header, claims, signature] = (await bench.atlassian.mint()).split('.');
      const changed = JSON.parse(Buffer.from(claims ?? '', 'base64url').toString('utf8')) as object;
      const forged = Buffer.from(JSON.stringify({ ...changed, principal: '557057:somebody-else' })).toString(
        'base64url',
      );
      await mustBeRefused(bench, { authorization: `Bearer ${header}.${forged}.${signature}` }, 'changed claims');
      return '401 with WWW-Authenticate';
    },
  },
  {
    id: 'token.claims',
    rule: `A token without ${REQUIRED_CLAIMS.join(', ')} is refused`,
    async run(bench) {
      for (const claim of REQUIRED_CLAIMS)
        await mustBeRefused(bench, { invocationToken: { omit: [claim] } }, `no ${claim}`);
      return `401 for each of ${REQUIRED_CLAIMS.length}`;
    },
  },
  {
    id: 'token.api-host',
    rule: 'app.apiBaseUrl with a host that is not Atlassian is not called',
    async run({ client, atlassian, site, item }) {
      const askedFor = (made: WorkItem): number =>
        site.requests().filter(({ path }) => path.includes(made.id) || path.includes(made.key)).length;
      const known = item();
      await client.assign(known.key).run();
      if (askedFor(known) === 0) skip('the agent never asked Jira, whatever the host');
      const target = item();
      const apiBaseUrl = `http://localhost:${new URL(atlassian.apiBaseUrl).port}/ex/jira/${site.cloudId}`;
      const forged = { claims: { app: { apiBaseUrl } } };
      const answer = await client.assign(target.key).run({ invocationToken: forged, limitMs: 5_000 });
      const asked = askedFor(target);
      must(asked === 0, `${asked} requests went to the host in the token`);
      return `nothing was sent there (${answer.error ? answer.error.code : (answer.task?.status.state ?? answer.faults[0])})`;
    },
  },
];
