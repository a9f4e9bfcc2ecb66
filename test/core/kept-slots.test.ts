import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DomainError, isDomainError } from '../../core/errors.ts';
import type { Agent } from '../../core/ports/agent.ts';
import type { Accepted } from '../../core/ports/task-store.ts';
import { type Client, createClient } from '../support/client.ts';
import { countFreeSlots, untilSlotIsFree } from '../support/free-slots.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type Core, type CoreOptions, createCore } from '../support/service.ts';
import { advanceUntil, createGate, type Gate, never, until } from '../support/until.ts';

const OWNER = { tenant: 'test', principal: 'alice', agent: 'agent' };
const OTHER = { ...OWNER, tenant: 'other' };
const DONE = { state: 'TASK_STATE_COMPLETED' } as const;

const prompt: Agent = {
  recovery: 'rerun',
  async *run() {
    yield DONE;
  },
};

/** Each turn waits until it is let go; `began` has the texts in the order in which they began. */
function waitingAgent() {
  const began: string[] = [];
  const gates = new Map<string, Gate>();
  const gateOf = (text: string): Gate => {
    const gate = gates.get(text) ?? createGate();
    gates.set(text, gate);
    return gate;
  };
  const agent: Agent = {
    recovery: 'rerun',
    async *run({ message }) {
      const [part] = message.parts;
      const text = part && 'text' in part ? part.text : '';
      began.push(text);
      await gateOf(text).opened;
      yield DONE;
    },
  };
  return { agent, began, letGo: (text: string) => gateOf(text).open() };
}

function of(core: Core, tenant: string): Client {
  return createClient(core, { caller: core.caller('someone', { tenant }) });
}

/** What each acceptance has answered, in order. */
function watchAccepts({ store }: Core): readonly Accepted[] {
  const seen: Accepted[] = [];
  const { accept } = store;
  Object.assign(store, {
    accept: async (...args: Parameters<typeof accept>) => {
      const accepted = await accept(...args);
      seen.push(accepted);
      return accepted;
    },
  });
  return seen;
}

/** From now on claims are held up where they are asked for, and counted. */
function holdClaims({ store }: Core) {
  const held = { gate: createGate(), asked: 0, answered: 0 };
  const { claim } = store;
  Object.assign(store, {
    claim: async (...args: Parameters<typeof claim>) => {
      held.asked += 1;
      await held.gate.opened;
      const answer = await claim(...args);
      held.answered += 1;
      return answer;
    },
  });
  return held;
}

async function coreOf(t: TestContext, options: Partial<CoreOptions> = {}): Promise<Core> {
  const core = await createCore(t, { agent: prompt, clock: createManualClock(), ...options });
  if (!options.idle) await untilSlotIsFree(core.runner);
  return core;
}

describe('a slot for a message', () => {
  it('is kept for agents that may start over and for no other', async (t) => {
    const core = await coreOf(t);
    const held = holdClaims(core);
    held.gate.open();
    const { runner } = core.addWorker({ agent: { ...prompt, recovery: 'review' } });
    await until('it has claimed', () => held.asked > 0);
    // Its claim was before this one, which waited for its turn in the store.
    await core.store.claim({ agent: 'agent', worker: 'another', leaseMs: 1, limit: 1 }, () => undefined);
    await untilSlotIsFree(core.runner);
    assert.equal(runner.reserve(OWNER, 'task'), undefined);
    const client = createClient(core);
    assert.equal((await client.send('hello')).status.state, 'TASK_STATE_COMPLETED');
  });

  it('is kept for this agent and for no other', async (t) => {
    const { runner } = await coreOf(t);
    assert.equal(runner.reserve({ ...OWNER, agent: 'another-agent' }, 'task'), undefined);
  });

  it('is one of those that turns have, and there are no more than these', async (t) => {
    const { runner } = await coreOf(t, { concurrency: 2 });
    const [one, two] = [runner.reserve(OWNER, 'task'), runner.reserve(OTHER, 'task')];
    assert.ok(one && two);
    assert.equal(runner.reserve(OWNER, 'task'), undefined);
    one.release();
    assert.ok(runner.reserve(OTHER, 'task'));
    assert.equal(runner.reserve(OTHER, 'task'), undefined);
  });

  it('is one of its tenant’s share', async (t) => {
    const { runner } = await coreOf(t, { concurrency: 4, concurrencyPerTenant: 2 });
    const one = runner.reserve(OWNER, 'task');
    assert.ok(one && runner.reserve(OWNER, 'task'));
    assert.equal(runner.reserve(OWNER, 'task'), undefined);
    assert.ok(runner.reserve(OTHER, 'task'));
    one.release();
    // Others of this tenant may have waited for it, so a claim comes first.
    await until('it may be kept again', () => runner.reserve(OWNER, 'task'));
    assert.equal(runner.reserve(OWNER, 'task'), undefined);
  });

  it('is not kept before the first claim, which may find turns that wait', async (t) => {
    const { runner } = await coreOf(t, { idle: true });
    assert.equal(runner.reserve(OWNER, 'task'), undefined);
  });

  it('is not kept while a claim is under way that counts on the tenants’ shares; without shares it is', async (t) => {
    for (const share of [{ concurrencyPerTenant: 3 }, {}]) {
      const core = await coreOf(t, { concurrency: 4, ...share });
      const held = holdClaims(core);
      core.wakeups.notify('work');
      await until('a claim is under way', () => held.asked > 0);
      const slot = core.runner.reserve(OWNER, 'task');
      assert.equal(slot !== undefined, !('concurrencyPerTenant' in share));
      slot?.release();
      held.gate.open();
      await untilSlotIsFree(core.runner);
    }
  });

  it('is not kept once a shutdown has begun', async (t) => {
    const { runner } = await coreOf(t);
    const stopped = runner.stop(1_000);
    assert.equal(runner.reserve(OWNER, 'task'), undefined);
    await stopped;
    assert.equal(runner.reserve(OWNER, 'task'), undefined);
  });

  it('is given back when the message is refused, comes again, or goes to a task that is there', async (t) => {
    const { agent, letGo } = waitingAgent();
    const core = await coreOf(t, { agent, concurrency: 3 });
    const client = createClient(core);
    const accepts = watchAccepts(core);
    const { id } = await client.start('first', { messageId: 'm1' });
    await client.start('first', { messageId: 'm1' });
    await client.start('more', { taskId: id });
    await assert.rejects(client.start('other content', { messageId: 'm1' }), (e) => isDomainError(e));
    const { accept } = core.store;
    Object.assign(core.store, { accept: () => Promise.reject(new DomainError('STORE_UNAVAILABLE', 'away')) });
    await assert.rejects(client.start('second'), (e) => isDomainError(e, 'STORE_UNAVAILABLE'));
    Object.assign(core.store, { accept });
    assert.deepEqual(
      accepts.map(({ kind, begun }) => [kind, begun !== undefined]),
      [
        ['create', true],
        ['repeat', false],
        ['continue', false],
      ],
    );
    assert.equal(countFreeSlots(core.runner), 2, 'all but that of the first message');
    letGo('first');
    letGo('more');
    await client.settled(id);
    await until('it is free again', () => core.runner.running === 0);
    assert.equal(countFreeSlots(core.runner), 3);
  });

  it('begins the turn without a claim, and the caller is told what the message did', async (t) => {
    const core = await coreOf(t);
    const held = holdClaims(core);
    const accepts = watchAccepts(core);
    const client = createClient(core);
    assert.equal((await client.send('hello')).status.state, 'TASK_STATE_COMPLETED');
    assert.equal(held.asked, 0);
    assert.equal(accepts[0]?.record.status.state, 'TASK_STATE_SUBMITTED');
    assert.equal(accepts[0]?.sequence, 1);
  });
});

/** From now on acceptances are committed, and answered when the gate opens. */
function holdAnswers({ store }: Core): { readonly gate: Gate; isCommitted(): boolean } {
  const gate = createGate();
  const { accept } = store;
  let committed = false;
  Object.assign(store, {
    accept: async (...args: Parameters<typeof accept>) => {
      const accepted = await accept(...args);
      committed = true;
      await gate.opened;
      return accepted;
    },
  });
  return { gate, isCommitted: () => committed };
}

describe('a message whose commit takes longer than a lease', () => {
  it('begins its turn once: it is not taken for lost by its own process', async (t) => {
    const clock = createManualClock();
    const { agent, began, letGo } = waitingAgent();
    const core = await coreOf(t, { agent, clock, leaseMs: 3_000 });
    const { gate, isCommitted } = holdAnswers(core);
    const client = createClient(core);
    const started = client.start('hello');
    await until('it is committed', isCommitted);
    const since = clock.now();
    await advanceUntil(clock, 'its lease would have run out twice', async () => {
      // Whatever the runner has asked of the store until now is answered before this.
      await core.store.ping();
      return clock.now() - since > 6_000;
    });
    gate.open();
    const { id } = await started;
    await until('it runs', () => began.length > 0);
    letGo('hello');
    assert.equal((await client.settled(id)).status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(began, ['hello']);
    assert.equal((await core.operator.taskFile(id))?.attempts.length, 1);
  });
});

describe('turns that wait', () => {
  it('are next within as many claims as tenants wait, however many messages of another tenant come meanwhile', async (t) => {
    const { agent, began, letGo } = waitingAgent();
    const core = await coreOf(t, { agent, concurrency: 1 });
    const [steady, victim] = [of(core, 'steady'), of(core, 'victim')];
    await steady.start('0');
    await until('the first runs', () => began.length === 1);
    await victim.start('mine');
    for (let n = 1; !began.includes('mine'); n += 1) {
      letGo(String(n - 1));
      await steady.start(String(n));
    }
    assert.ok(began.indexOf('mine') <= 2, began.join(' '));
    letGo('mine');
  });

  it('are next when a message took the slot that their claim had counted on', async (t) => {
    const { agent, began, letGo } = waitingAgent();
    const core = await coreOf(t, { agent, concurrency: 1 });
    const elsewhere = await createCore(t, { agent, clock: core.clock, path: core.path, idle: true });
    const held = holdClaims(core);
    await of(elsewhere, 'victim').start('mine');
    core.wakeups.notify('work');
    await until('a claim is under way', () => held.asked === 1);
    const steady = of(core, 'steady');
    await steady.start('1');
    await until('it runs', () => began.length === 1);
    held.gate.open();
    await until('the claim has found no slot', () => held.answered === 1);
    letGo('1');
    await steady.start('2');
    await until('somebody is next', () => began.length === 2);
    assert.deepEqual(began, ['1', 'mine']);
  });
});

describe('slots of a runner under accepts and claims', () => {
  for (const seed of [1, 2, 3]) {
    it(`are never passed, by all or by one tenant, and are all free in the end: seed ${seed}`, async (t) => {
      let state = seed;
      const random = (below: number): number => {
        state = (state * 48_271) % 2_147_483_647;
        return state % below;
      };
      const [concurrency, concurrencyPerTenant] = [4, 3];
      const running = new Map<string, number>();
      const waiting = new Set<Gate>();
      const most = { all: 0, tenant: 0 };
      const agent: Agent = {
        recovery: 'rerun',
        async *run({ message }) {
          const [part] = message.parts;
          const tenant = part && 'text' in part ? part.text : '';
          running.set(tenant, (running.get(tenant) ?? 0) + 1);
          most.all = Math.max(most.all, waiting.size + 1);
          most.tenant = Math.max(most.tenant, running.get(tenant) ?? 0);
          const gate = createGate();
          waiting.add(gate);
          await gate.opened;
          waiting.delete(gate);
          running.set(tenant, (running.get(tenant) ?? 0) - 1);
          yield DONE;
        },
      };
      const core = await coreOf(t, { agent, concurrency, concurrencyPerTenant });
      const accepts = watchAccepts(core);
      const clients = ['a', 'b', 'c'].map((tenant) => ({ tenant, client: of(core, tenant) }));
      const sent: Promise<unknown>[] = [];
      const one = () => [...waiting][random(waiting.size || 1)]?.open();
      for (let step = 0; step < 300; step += 1) {
        // Now and then it is left to run dry, so that messages find free slots again.
        const { tenant, client } = clients[random(3)] ?? assert.fail();
        if (step % 60 < 30 && random(3) > 0) sent.push(client.start(tenant));
        else one();
        for (let hop = random(4); hop > 0; hop -= 1) await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(sent);
      await until('all have run', async () => {
        for (const gate of waiting) gate.open();
        const { waiting: left, leased } = await core.store.backlog();
        return left + leased === 0 && core.runner.running === 0;
      });
      assert.deepEqual(most, { all: concurrency, tenant: concurrencyPerTenant });
      const begun = accepts.filter((accepted) => accepted.begun).length;
      assert.ok(begun > 10 && begun < accepts.length - 10, `${begun} of ${accepts.length} began with their message`);
      await until('every slot is free', () => {
        // One each, so that nobody is at its share.
        const slots = ['v', 'w', 'x', 'y', 'z'].flatMap(
          (tenant) => core.runner.reserve({ ...OWNER, tenant }, 'task') ?? [],
        );
        for (const slot of slots) slot.release();
        return slots.length === concurrency;
      });
    });
  }
});

describe('a shutdown in the middle of an acceptance', () => {
  /** A service with an acceptance under way. */
  async function accepting(t: TestContext, agent: Agent, clock = createManualClock()) {
    const core = await coreOf(t, { agent, clock });
    const { gate, isCommitted } = holdAnswers(core);
    const started = createClient(core).start('hello');
    await until('it is committed', isCommitted);
    return { core, gate, started };
  }

  it('waits for it and lets its turn finish', async (t) => {
    const { core, gate, started } = await accepting(t, prompt);
    let isStopped = false;
    const stopped = core.runner.stop(25_000).then(() => {
      isStopped = true;
    });
    for (let hop = 0; hop < 20; hop += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isStopped, false);
    gate.open();
    const { id } = await started;
    await stopped;
    assert.equal((await createClient(core).get(id)).status.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(await core.store.backlog(), { waiting: 0, leased: 0, oldestMs: 0 });
  });

  it('that is answered when the time to finish is over: its turn is given back and never begun', async (t) => {
    let runs = 0;
    const clock = createManualClock();
    const agent: Agent = {
      recovery: 'rerun',
      async *run() {
        runs += 1;
        await never();
        yield DONE;
      },
    };
    const { core, gate, started } = await accepting(t, agent, clock);
    const stopped = core.runner.stop(25_000);
    clock.advance(22_000);
    for (let hop = 0; hop < 20; hop += 1) await new Promise((resolve) => setImmediate(resolve));
    gate.open();
    await started;
    await stopped;
    assert.deepEqual(await core.store.backlog(), { waiting: 1, leased: 0, oldestMs: 0 });
    assert.equal(runs, 0);
  });
});
