import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DomainError } from '../../core/errors.ts';
import { textOf } from '../../core/message.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { sha256 } from '../../src/system-clock.ts';
import { collect, createClient, historyTexts, ROVO, statesOf, statusText } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type Core, createCore } from '../support/service.ts';
import { advanceUntil, createGate, until } from '../support/until.ts';

const HOUR = 3_600_000;

interface Site {
  readonly core: Core;
  /** Tokens that this Jira takes. */
  readonly good: Set<string>;
  readonly runs: string[];
  as(token: string, expiresAt?: number): ReturnType<typeof createClient>;
}

/** An agent that needs the user's token, looked up at each call, and a site that takes some tokens. */
async function createSite(
  t: TestContext,
  { before, ...options }: { readonly before?: Agent['run']; readonly parkedMaxMs?: number } = {},
): Promise<Site> {
  const clock = createManualClock();
  const good = new Set(['good']);
  const runs: string[] = [];
  const agent: Agent['run'] = async function* (turn) {
    runs.push(textOf(turn.message.parts));
    if (before) yield* before(turn);
    const issue = await turn.capabilities.jira?.issue('1');
    const added = turn.inbox().map((message) => textOf(message.parts));
    yield { state: 'TASK_STATE_COMPLETED', message: [issue?.summary, ...added].join(' + ') };
  };
  const core: Core = await createCore(t, {
    ...options,
    clock,
    agent,
    leaseMs: 24 * HOUR,
    capabilities: async ({ record: { owner } }) => ({
      jira: {
        issue: async () => {
          const credential = await core.store.credential(owner);
          const token = credential && (await core.vault.reveal(owner, credential));
          if (token !== undefined && good.has(token))
            return { id: '1', key: 'A-1', summary: `read with ${token}` } as never;
          throw new DomainError('USER_TOKEN_REQUIRED', 'Allow access first', { tokenHash: credential?.hash ?? '' });
        },
        comments: async () => [],
        search: async () => [],
      },
    }),
  });
  return {
    ...{ core, good, runs },
    as: (token, expiresAt = clock.now() + HOUR) =>
      createClient(core, { profile: ROVO, caller: core.caller('alice', { token: { token, expiresAt } }) }),
  };
}

describe('a user token', () => {
  it('that came with the message is used and forgotten with the last live task [7.6.4-later]', async (t) => {
    const { core, as } = await createSite(t);
    const client = as('good');
    assert.equal(statusText(await client.send('start')), 'read with good');
    assert.equal(await core.store.credential(client.caller.owner), undefined);
  });

  it('that is refused parks the task; the same token does not wake it, another one does, in the same turn', async (t) => {
    const { core, as, runs } = await createSite(t);
    const parked = await as('bad').send('start');
    assert.equal(parked.status.state, 'TASK_STATE_AUTH_REQUIRED');
    assert.equal(statusText(parked), 'Allow access first');
    await core.operations.renewUserToken(as('bad').caller);
    assert.equal((await as('bad').get(parked.id)).status.state, 'TASK_STATE_AUTH_REQUIRED');
    assert.deepEqual(runs, ['start']);
    await core.operations.renewUserToken(as('good').caller);
    const task = await as('good').settled(parked.id);
    assert.equal(statusText(task), 'read with good');
    assert.deepEqual(runs, ['start', 'start']);
    assert.deepEqual(historyTexts(task), ['start'], 'asking for a token is no part of the conversation');
  });

  it('that is missing parks the task until any token comes', async (t) => {
    const { core, as } = await createSite(t);
    const without = createClient(core, { profile: ROVO });
    const parked = await without.send('start');
    assert.equal(parked.status.state, 'TASK_STATE_AUTH_REQUIRED');
    await core.operations.renewUserToken(without.caller);
    assert.equal((await without.get(parked.id)).status.state, 'TASK_STATE_AUTH_REQUIRED');
    await core.operations.renewUserToken(as('good').caller);
    assert.equal(statusText(await without.settled(parked.id)), 'read with good');
  });

  it('that ends earlier than the refused one wakes it all the same, and the refused one cannot push it out', async (t) => {
    const { core, as, good, runs } = await createSite(t);
    const now = core.clock.now();
    const parked = await as('bad', now + 2 * HOUR).send('start');
    await core.operations.renewUserToken(as('bad', now + 2 * HOUR).caller);
    assert.deepEqual(runs, ['start']);
    good.add('shorter');
    await core.operations.renewUserToken(as('shorter', now + HOUR).caller);
    assert.equal(statusText(await as('shorter', now + HOUR).settled(parked.id)), 'read with shorter');
  });

  it('of another user wakes nobody', async (t) => {
    const { core, as } = await createSite(t);
    const parked = await as('bad').send('start');
    await core.operations.renewUserToken(core.caller('bob', { token: { token: 'good' } }));
    await core.operations.renewUserToken(core.caller('alice', { tenant: 'other', token: { token: 'good' } }));
    assert.equal((await as('bad').get(parked.id)).status.state, 'TASK_STATE_AUTH_REQUIRED');
  });

  it('that came while the agent found out that the old one is refused: the turn runs again at once', async (t) => {
    const [asked, renewed] = [createGate(), createGate()];
    let first = true;
    const { core, as, good, runs } = await createSite(t, {
      before: async function* ({ capabilities }) {
        if (!first) return;
        first = false;
        const refusal = await capabilities.jira?.issue('1').catch((error: unknown) => error);
        asked.open();
        await renewed.opened;
        throw refusal;
      },
    });
    const sent = as('old').send('start');
    await asked.opened;
    good.add('new');
    await core.operations.renewUserToken(as('new').caller);
    renewed.open();
    const task = await sent;
    assert.equal(statusText(task), 'read with new');
    assert.deepEqual(runs, ['start', 'start']);
    const events = await core.store.events(as('new').caller.owner, task.id, 0, 50);
    assert.ok(!JSON.stringify(events).includes('AUTH_REQUIRED'), 'nobody was asked');
  });

  it('a message to a parked task runs the parked turn again and is in its inbox', async (t) => {
    const { as, runs } = await createSite(t);
    const { id: taskId, contextId } = await as('bad').send('start');
    const task = await as('good').send('and this', { contextId });
    assert.equal(task.id, taskId);
    assert.equal(statusText(task), 'read with good + and this');
    assert.deepEqual(runs, ['start', 'start']);
  });

  it('a message that waited when the task was parked is not lost, though the rerun takes no inbox', async (t) => {
    const waiting = createGate();
    let first = true;
    const { core, as, good, runs } = await createSite(t, {
      before: async function* ({ message }) {
        if (first) await waiting.opened;
        first = false;
        if (!good.has('bad')) return;
        yield { state: 'TASK_STATE_COMPLETED', message: `Answer to ${textOf(message.parts)}` };
      },
    });
    const started = await as('bad').start('start');
    await until('it runs', () => runs.length === 1);
    await as('bad').start('and this', { contextId: started.contextId });
    waiting.open();
    const parked = await as('bad').settled(started.id);
    assert.equal(parked.status.state, 'TASK_STATE_AUTH_REQUIRED');
    assert.deepEqual(runs, ['start'], 'nothing runs while it is parked');
    good.add('bad');
    await core.operations.renewUserToken(as('fresh').caller);
    const task = await as('fresh').settled(started.id);
    assert.deepEqual(runs, ['start', 'start', 'and this']);
    assert.equal(statusText(task), 'Answer to and this');
    assert.deepEqual(historyTexts(task), ['start', 'and this', 'Answer to start']);
  });

  it('a stream stays open over AUTH_REQUIRED and shows how it goes on', async (t) => {
    const { core, as } = await createSite(t);
    const stream = collect(await as('bad').stream('start', { messageId: 'm1' }));
    const parked = await as('bad').send('start', { messageId: 'm1' });
    await core.operations.renewUserToken(as('good').caller);
    assert.equal((await as('good').settled(parked.id)).status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(statesOf(await stream), ['Task SUBMITTED', 'WORKING', 'AUTH_REQUIRED', 'WORKING', 'COMPLETED']);
  });

  it('wakes every parked task of its user, also by sending another message', async (t) => {
    const { as } = await createSite(t);
    const parked = await Promise.all(['a', 'b', 'c'].map((text) => as('bad').send(text)));
    await as('good').start('d');
    for (const { id } of parked) assert.equal(statusText(await as('good').settled(id)), 'read with good');
  });

  it('is in no event, status, history or list', async (t) => {
    const { core, as } = await createSite(t);
    const { caller } = as('bad-token-value');
    const client = as('bad-token-value');
    const { id } = await client.send('start');
    const { owner } = caller;
    const shown = [
      await client.get(id),
      await core.store.events(owner, id, 0, 50),
      await core.operations.listTasks(caller, { filter: {}, pageSize: 10, includeArtifacts: true }),
    ];
    assert.ok(!JSON.stringify(shown).includes('bad-token-value'));
    assert.ok(!JSON.stringify(shown).includes(sha256('bad-token-value')));
  });

  it('never comes: the parked task fails at its deadline', async (t) => {
    const { core, as } = await createSite(t);
    const clock = core.clock as ReturnType<typeof createManualClock>;
    const { id } = await as('bad').send('start', { deadlineMs: 60_000 });
    clock.advance(58_000);
    assert.equal((await as('bad').get(id)).status.state, 'TASK_STATE_AUTH_REQUIRED');
    await advanceUntil(
      clock,
      'the deadline',
      async () => (await as('bad').get(id)).status.state === 'TASK_STATE_FAILED',
    );
    await core.operations.renewUserToken(as('good').caller);
    assert.equal((await as('bad').get(id)).status.state, 'TASK_STATE_FAILED');
  });
});
