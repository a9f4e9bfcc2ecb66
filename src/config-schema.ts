import { z } from 'zod';
import { LIMITS } from '../core/limits.ts';
import * as value from './config-values.ts';
import { signingKey } from './signing-key.ts';

/*
 * Every variable that the service reads, with its default, its form and its description. docs/configuration.md and
 * .env.example follow from this table. Relations between variables are in config-rules.ts. Longer than other files of
 * src because a row per variable in one place is what makes it readable.
 */

export interface KeyNotes {
  readonly about: string;
  /** As one would write it in `.env`. */
  readonly fallback?: string;
  /** Its value is never shown. */
  readonly secret?: true;
}

export const keyNotes = z.registry<KeyNotes>();

function key<T>(schema: z.ZodType<T, string>, fallback: string, about: string) {
  return schema.prefault(fallback).register(keyNotes, { about, fallback });
}

function unset<T>(schema: z.ZodType<T, string>, about: string) {
  return schema.optional().register(keyNotes, { about });
}

function secret<T>(schema: z.ZodType<T, string>, about: string) {
  return schema.optional().register(keyNotes, { about, secret: true });
}

/** What one may have of a bound on all. */
export const USUAL_SHARES = {
  MAX_REQUESTS_PER_PRINCIPAL: 500,
  MAX_STREAMS_PER_PRINCIPAL: 1_000,
  MAX_QUEUED_PER_TENANT: LIMITS.queueMaxPerTenant,
} as const;

function share(name: keyof typeof USUAL_SHARES, whose: string) {
  return value
    .whole(1, 1_000_000_000)
    .optional()
    .register(keyNotes, {
      about: `Of those from one ${whose}. With \`A2A_AUTH=anonymous\`, where everybody is the same one, by default as many as all.`,
      fallback: String(USUAL_SHARES[name]),
    });
}

const server = {
  LOG_LEVEL: key(
    value.choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'Least severe log level that is written: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
  ),
  HOST: key(value.matching(/^[A-Za-z0-9.:[\]_-]+$/, 'a host name or address'), '127.0.0.1', 'Address to listen on.'),
  PORT: key(value.whole(0, 65_535), '8080', 'Port to listen on. 0 takes a free one.'),
  PUBLIC_URL: unset(
    value.publicUrl(),
    'Where callers reach the service; printed on the agent card. With https, answers carry Strict-Transport-Security. ' +
      'Default `http://127.0.0.1:$PORT`.',
  ),
  DATABASE_URL: value.database().prefault('sqlite:./data/connector.db').register(keyNotes, {
    about: 'The store: `sqlite:` and the path of a file. Its folder is made when missing.',
    fallback: 'sqlite:./data/connector.db',
    secret: true,
  }),
  ROLE: key(
    value.choice('all', 'api', 'worker'),
    'all',
    '`api` answers callers, `worker` runs agents, `all` does both. Other than `all` needs `CREDENTIALS_KEY`.',
  ),
  MAX_BODY_BYTES: key(value.whole(1_024, 100_000_000, 'bytes'), '5242880', 'Largest request body.'),
  DRAIN_MS: key(
    value.durationMs(1_000),
    '25000',
    'After SIGTERM, running turns have this long less 3 s to finish; then the process ends.',
  ),
  HELP_URL: unset(
    value.httpsUrl(),
    'Page that people are sent to when the service cannot work for them and no page of Atlassian fits.',
  ),
  OPS_TOKEN: secret(
    value.matching(/^[\x21-\x7e]+$/, 'a text without spaces'),
    'Bearer token for `GET /metrics` on `PORT`. Unset: that route answers 404.',
  ),
  OPS_PORT: unset(value.whole(1, 65_535), 'Serves `/metrics` without a token on this port of 127.0.0.1. Unset: off.'),
};

/** What a caller meets at each is in docs/operations.md. */
const limits = {
  MAX_CONNECTIONS: key(value.whole(1, 1_000_000), '10000', 'Connections that one process holds open.'),
  MAX_REQUESTS: key(
    value.whole(1, 1_000_000),
    '2000',
    'Calls that it answers at the same time. Streams are not among them.',
  ),
  MAX_REQUESTS_PER_PRINCIPAL: share('MAX_REQUESTS_PER_PRINCIPAL', 'caller'),
  MAX_STREAMS: key(value.whole(1, 1_000_000), '10000', 'Event streams that it holds open.'),
  MAX_STREAMS_PER_PRINCIPAL: share('MAX_STREAMS_PER_PRINCIPAL', 'caller'),
  MAX_BODIES_BYTES: key(
    value.whole(1_024, 100_000_000_000, 'bytes'),
    '134217728',
    'Request bodies that it holds in memory at the same time, all together. One alone always fits.',
  ),
  MAX_ANSWERS_BYTES: key(
    value.whole(65_536, 100_000_000_000, 'bytes'),
    '268435456',
    'Answers of more than 64 kB that callers have not taken yet, all together. One alone always fits.',
  ),
  MAX_QUEUED: key(
    value.whole(1, 1_000_000_000),
    String(LIMITS.queueMax),
    'Messages that wait for the agent, over all processes. The same message again needs no place.',
  ),
  MAX_QUEUED_PER_TENANT: share('MAX_QUEUED_PER_TENANT', 'tenant'),
};

const agent = {
  AGENT: key(
    value.agentSource(),
    'brief',
    '`brief` reads a work item and writes a briefing; `module:./my-agent.mjs` loads an agent of yours.',
  ),
  AGENT_ID: key(
    value.matching(/^[A-Za-z0-9._-]{1,64}$/, 'up to 64 letters, digits, dots, dashes and underscores'),
    'agent',
    'Names this agent in the keys of the store: a changed id does not see the tasks of the old one.',
  ),
  AGENT_CONCURRENCY: key(value.whole(1, 10_000), '16', 'Turns that one process runs at the same time.'),
  AGENT_CONCURRENCY_PER_TENANT: unset(
    value.whole(1, 10_000),
    'Of those at most this many for one tenant, so that a slot is left when another one comes. Default: all but one in ' +
      'eight (14 of 16), below 8 and with `A2A_AUTH=anonymous` all.',
  ),
  LEASE_MS: key(
    value.durationMs(100),
    '30000',
    'A turn whose process was silent for this long is lost and handled by its recovery policy.',
  ),
  PARKED_MAX_MS: key(
    value.durationMs(1, 10 ** 13),
    '604800000',
    'A task that waits for an answer of its user fails after this (7 days).',
  ),
  RETENTION_MS: key(
    value.durationMs(1, 10 ** 13),
    '2592000000',
    'Finished tasks are erased after this (30 days), with everything that belongs to them.',
  ),
  CREDENTIALS_KEY: secret(
    value.list(value.sealingKey(), '32 random bytes as base64, or a comma list of such'),
    'Seals user tokens at rest: 32 bytes as base64, or a comma list of which the first seals and all open. Unset: ' +
      'user tokens stay in the memory of the process.',
  ),
};

const rovo = {
  FORGE_APP_ID: unset(
    value.forgeAppId(),
    'App id of manifest.yml, ARI or uuid. Tokens of any other app are refused. Unset: `/rovo/*` answers 404.',
  ),
  FORGE_JWKS_URL: key(
    value.keySetUrl(),
    'https://forge.cdn.prod.atlassian-dev.net/.well-known/jwks.json',
    'Keys that Forge Invocation Tokens are signed with. https, or http on loopback.',
  ),
  ROVO_VERSIONS: key(
    value.list(value.choice('1.0', '0.3'), '1.0, 0.3 or both as a comma list'),
    '1.0',
    'Protocol versions that `/rovo/a2a` speaks. 0.3 is what an agent connector without `version: "1.0"` in its ' +
      'manifest is called with; a call is answered in the version that it is of.',
  ),
  ROVO_WAIT_MS: key(value.durationMs(), '10000', 'SendMessage answers with the task as it is after this; it runs on.'),
  ROVO_SYNC_DEADLINE_MS: key(
    value.durationMs(1, 54_999),
    '50000',
    'No answer that is not a stream comes later than this. Below 55000, where Jira gives up.',
  ),
  ROVO_STREAM_DEADLINE_MS: key(
    value.durationMs(1, 899_999),
    '890000',
    'A stream is ended by us after this and the task runs on. Below 900000, where Jira cuts it.',
  ),
  ROVO_CHAT_DEADLINE_MS: key(
    value.durationMs(),
    '1740000',
    'A task started from chat fails after this. Jira stops looking after 30 min.',
  ),
  ROVO_ITEM_DEADLINE_MS: key(
    value.durationMs(),
    '3540000',
    'A task started from a work item fails after this. Jira stops looking after 60 min.',
  ),
  ROVO_API_HOSTS: key(
    value.list(
      value.matching(/^[A-Za-z0-9.[\]:-]+$/, 'a host'),
      'a comma list of hosts, each with a port where it is not 443',
    ),
    'api.atlassian.com',
    'Hosts that a user token may be sent to. An installation that names another one is refused.',
  ),
  ROVO_MODULE_KEYS: unset(
    value.list(value.matching(/^[A-Za-z0-9_-]+$/, 'a module key'), 'a comma list of module keys of manifest.yml'),
    'Module keys that may call `/rovo/a2a`. Unset: any of the app.',
  ),
};

const a2a = {
  A2A_AUTH: key(
    value.choice('off', 'jwt', 'anonymous'),
    'off',
    'Who may call `/a2a`: `off` nobody, `jwt` holders of a token, `anonymous` anybody on this machine (loopback only).',
  ),
  A2A_JWT_ISSUER: unset(value.matching(/\S/, 'the issuer'), '`iss` that a token must carry. Needed by `jwt`.'),
  A2A_JWT_AUDIENCE: unset(value.matching(/\S/, 'the audience'), '`aud` that a token must carry. Needed by `jwt`.'),
  A2A_JWKS_URL: unset(value.keySetUrl(), 'Keys of the issuer. https, or http on loopback. Needed by `jwt`.'),
  A2A_TENANT_CLAIM: unset(
    value.matching(/^\S+$/, 'the name of a claim'),
    'Claim that names the tenant of a caller; a token without it is refused. Unset: the issuer is one tenant.',
  ),
  A2A_WAIT_MS: key(value.durationMs(), '60000', 'A blocking SendMessage answers with the task as it is after this.'),
  A2A_STREAM_DEADLINE_MS: key(value.durationMs(), '3600000', 'A stream is ended by us after this; the task runs on.'),
  A2A_TASK_DEADLINE_MS: key(value.durationMs(1, 10 ** 13), '86400000', 'A task that works for longer fails.'),
  A2A_VERSIONS: key(
    value.list(value.choice('1.0', '0.3'), '1.0, 0.3 or both as a comma list'),
    '1.0,0.3',
    'Protocol versions that `/a2a` speaks. With both, a client of 0.3 finds its form of the agent card at `/.well-known/agent-card.json?A2A-Version=0.3` (or with that header).',
  ),
  A2A_HTTP_JSON: key(value.onOff(), 'on', 'Is HTTP+JSON served under `/a2a/v1`, beside JSON-RPC at `/a2a`? 1.0 only.'),
  GRPC_PORT: unset(
    value.whole(0, 65_535),
    'Port of gRPC on `HOST`, beside JSON-RPC; 1.0 only, without TLS like `PORT`. 0 takes a free one. Unset: off.',
  ),
  GRPC_URL: unset(
    value.hostAndPort(),
    'Where callers reach gRPC, as `host:port`; printed on the agent card. Default: the host of `PUBLIC_URL`, `GRPC_PORT`.',
  ),
  A2A_STREAMING: key(value.onOff(), 'on', 'Are the streaming operations offered on `/a2a`?'),
  A2A_PUSH: key(
    value.onOff(),
    'off',
    'Takes and keeps push notification configs, and says so on the card. This version delivers nothing to them yet.',
  ),
  A2A_PUSH_ALLOW: unset(
    value.list(
      value.matching(/^[A-Za-z0-9.[\]:-]+$/, 'a host'),
      'a comma list of hosts, each with a port where it is not the default one',
    ),
    'Hosts that push notifications may go to although they are private addresses or not https. For tests.',
  ),
  A2A_CARD_SIGNING_KEY: secret(
    signingKey(),
    'Signs the agent card: a private JWK as one line of JSON. Its public half is served at `/.well-known/jwks.json`. ' +
      'Unset: the card has no signature.',
  ),
  A2A_REQUIRED_EXTENSIONS: unset(
    value.list(value.matching(/^[a-z][a-z0-9+.-]*:\S+$/i, 'a URI'), 'a comma list of extension URIs'),
    'Extensions that every call on `/a2a` has to activate in its header `A2A-Extensions`; on the card as required.',
  ),
};

export const CONFIG_SECTIONS = [
  { title: 'Server', keys: server },
  { title: 'Limits', keys: limits },
  { title: 'Agent and tasks', keys: agent },
  { title: 'Rovo', keys: rovo },
  { title: 'A2A', keys: a2a },
] as const;

export const CONFIG_KEYS = { ...server, ...limits, ...agent, ...rovo, ...a2a };
export type ConfigKey = keyof typeof CONFIG_KEYS;
/** What the variables hold, each read on its own. */
export type ConfigValues = { readonly [K in ConfigKey]: z.output<(typeof CONFIG_KEYS)[K]> };
