import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { CallOptions } from '../../simulator/client/calls.ts';
import * as adf from '../../simulator/site/adf.ts';
import { plainPost } from './plain-calls.ts';
import { agentSource, script, type World, type WorldOptions } from './world.ts';

/*
 * A day on which everything happens that people can do and much that goes wrong, with sentences and credentials planted
 * wherever there is room for one: whatever the service writes down on it must hold none of them.
 */

/** Sentences that people wrote. Each is planted in one place. */
export const WRITTEN = {
  summary: 'Marmalade refund for the Petersen account',
  description: 'Quickfinch pays the Petersen refund on Tuesday',
  comment: 'Please keep the Petersen dispute between us',
  mention: 'what does the Petersen contract say',
  chat: 'Tell nobody about the Petersen merger',
  artifact: 'The Petersen answer nobody else may read',
  prompt: 'Summarise the Petersen backlog quietly',
} as const;

export const OPS_TOKEN = 'ops-planted-secret';

export const BUSY_WORLD: WorldOptions = {
  agent: 'brief',
  settings: {
    LOG_LEVEL: 'debug',
    ROVO_WAIT_MS: '2000',
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    OPS_TOKEN,
  },
};

/** Answers everything that was planted. The processes of the world have ended then. */
export async function playBusyDay(world: World): Promise<ReadonlySet<string>> {
  const secrets = new Set<string>([OPS_TOKEN, 'Petersen', ...Object.values(WRITTEN)]);
  await jiraDay(world, secrets);
  const token = await world.issuer.token('alice');
  secrets.add(token);
  const alice = await world.a2a('alice');
  await alice.rpc('SendMessage', script([WRITTEN.chat]), { authorization: `Bearer ${token}` });
  await brokenAgent(world);
  world.service().signal('SIGTERM');
  assert.equal(await world.service().exited(), 0);
  return secrets;
}

/** An agent that fails in the middle of what it writes, and one whose process is killed there. */
async function brokenAgent(world: World): Promise<void> {
  const place = world.outside.place({ closed: true });
  const settings = { AGENT: agentSource('rerun'), DATABASE_URL: 'sqlite:./failing.db', LEASE_MS: '600' };
  const failing = await world.start(settings);
  const lines = [`write a ${JSON.stringify(WRITTEN.artifact)}`, `say ${WRITTEN.artifact}`];
  const other = await world.a2a('alice', { service: failing });
  await other.rpc('SendMessage', script([...lines, 'artifact a unknown 1']));
  await other.rpc('SendMessage', script([...lines, `step a ${place.name}`, 'complete'], { returnImmediately: true }));
  await place.reached();
  failing.signal('SIGKILL');
  await failing.exited();
  const restarted = await world.start(settings);
  await place.reached(2);
  place.open();
  restarted.signal('SIGTERM');
  assert.equal(await restarted.exited(), 0);
}

/** Everything that Jira lets people do, with what goes wrong in between. */
async function jiraDay(world: World, secrets: Set<string>): Promise<void> {
  async function credentials(options: CallOptions & { readonly as: string }): Promise<CallOptions> {
    const { site } = world.atlassian;
    const authorization = `Bearer ${await world.atlassian.mint({ as: options.as })}`;
    const token = site.newToken(options.as);
    secrets.add(authorization.slice('Bearer '.length)).add(token);
    for (const jwt of [authorization, token]) secrets.add(jwt.split('.').at(-1) ?? '');
    return { ...options, authorization, userToken: { token } };
  }

  const jira = world.jira();
  const { site } = world.atlassian;
  const { key } = site.records.add({
    summary: WRITTEN.summary,
    description: adf.doc(adf.paragraph(WRITTEN.description)),
  });
  site.records.comment(key, 'bob', WRITTEN.comment);
  const alice = await credentials({ as: 'alice' });
  const assigned = await jira.assign(key).sync(alice);
  const id = String(assigned.task?.id);
  assert.ok(JSON.stringify(assigned.task).includes('Petersen'), 'the agent has read it');
  await jira.mention(key, WRITTEN.mention).stream(await credentials({ as: 'alice' }));
  await jira.chat(`${WRITTEN.chat} (${key})`).sync(await credentials({ as: 'bob' }));
  await jira.automation(`${WRITTEN.prompt} ${key}`).sync(await credentials({ as: 'bob' }));
  await jira.assign(key, { as: 'carol', force: true }).sync(await credentials({ as: 'carol' }));
  await jira.subscribe(id, await credentials({ as: 'alice' }));
  await jira.get(id, await credentials({ as: 'bob' }));
  await jira.cancel(id, await credentials({ as: 'alice' }));

  // What goes wrong: Jira refuses the token, answers too late and too often; a message is reused, broken or foreign.
  const refused = await credentials({ as: 'alice' });
  if (typeof refused.userToken === 'object') site.tokens.revoke(refused.userToken.token);
  await jira.assign(key).sync(refused);
  site.traffic.rateLimit({ key, times: 2, retryAfterS: 1 });
  await jira.assign(key).sync(await credentials({ as: 'bob' }));
  const gate = site.traffic.gate(key);
  const held = jira.mention(key, WRITTEN.mention, { as: 'bob' });
  const canceled = await held.sync(await credentials({ as: 'bob' }));
  await jira.cancel(String(canceled.task?.id), await credentials({ as: 'bob' }));
  gate.open();
  const conflict = jira.chat(WRITTEN.chat, { messageId: 'one-id' });
  await conflict.sync(await credentials({ as: 'bob' }));
  await jira.chat(WRITTEN.prompt, { messageId: 'one-id' }).sync(await credentials({ as: 'bob' }));
  await jira.rpc('SendMessage', {}, { ...alice, body: `{"jsonrpc": "2.0", ${WRITTEN.chat}`, id: null });
  await jira.rpc('SendMessage', { message: { parts: [{ text: WRITTEN.chat, raw: WRITTEN.chat }] } }, alice);
  await jira.rpc('SendMessage', jira.assign(key).params, await credentials({ as: 'bob' }));
  const forged = await world.atlassian.mint({ audience: 'ari:cloud:ecosystem::app/other' });
  secrets.add(forged);
  await jira.chat(WRITTEN.chat).sync({ authorization: `Bearer ${forged}` });
  const lifecycle = await world.atlassian.mint({ module: { type: 'core:trigger', key: 'lifecycle' } });
  secrets.add(lifecycle);
  const { origin } = world.service();
  await plainPost(`${origin}/rovo/lifecycle`, WRITTEN.chat, { authorization: `Bearer ${lifecycle}` });
  await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${OPS_TOKEN}` } });
  await fetch(`${origin}/${encodeURIComponent(WRITTEN.chat)}`);
}
