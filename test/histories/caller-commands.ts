import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isDomainError } from '../../core/errors.ts';
import type { Task } from '../../core/task.ts';
import { sha256 } from '../../src/system-clock.ts';
import { type Commands, command, pick, weighted } from './command.ts';
import { expectList, expectNoTask, expectSeen } from './compare.ts';
import { isLive, type ModelTask, numberOf, PEOPLE, type Person } from './model.ts';
import { cancel, create, DEADLINE_MS, decide, follow, remember, renew, type Sending } from './model-callers.ts';
import { claim } from './model-turns.ts';
import type { Process, World } from './world.ts';

/* What people do: send, send again, answer, cancel, look, bring a token. */

interface Token {
  readonly number: number;
  readonly lifeMs: number;
}

interface Send {
  readonly person: Person;
  readonly process: number;
  readonly messageId: string | null;
  readonly text: string;
  readonly contextId: string | undefined;
  /** `own`: a task of this person that has not ended. `any`: of all tasks, also foreign and finished ones. */
  readonly target: { readonly own: number } | { readonly any: number } | 'unknown' | undefined;
  /** Names a task and a context. */
  readonly both: boolean;
  readonly token: Token | undefined;
  /** A slot is free for its turn, if its agent may start over. */
  readonly slot: boolean;
}

const person = fc.constantFrom(...PEOPLE);
const process = fc.nat(1);
const token = fc.record({ number: fc.nat(2), lifeMs: fc.constantFrom(60_000, 3_600_000, 14_400_000) });

const send: fc.Arbitrary<Send> = fc.record({
  person,
  process,
  messageId: fc.oneof(
    { weight: 6, arbitrary: fc.nat(30).map((n) => `m${n}`) },
    { weight: 3, arbitrary: fc.nat(2).map((n) => `m${n}`) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  text: fc.constantFrom('one', 'two'),
  contextId: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: fc.constantFrom('c1', 'c2') },
  ),
  target: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 12, arbitrary: fc.record({ own: fc.nat(40) }) },
    { weight: 1, arbitrary: fc.record({ any: fc.nat(40) }) },
    { weight: 1, arbitrary: fc.constant('unknown' as const) },
  ),
  both: fc.nat(7).map((n) => n === 0),
  token: fc.option(token, { nil: undefined, freq: 4 }),
  slot: fc.boolean(),
});

/** Those that have not ended first: most of what people say is said to them. */
function liveFirst(tasks: readonly ModelTask[], index: number): ModelTask | undefined {
  return pick(tasks.filter(isLive), index) ?? pick(tasks, index);
}

function taskIdOf({ model }: World, { target, person: { name } }: Send): string | undefined {
  if (target === undefined) return undefined;
  if (target === 'unknown') return 'no-such-task';
  const all = [...model.tasks.values()];
  if ('any' in target) return pick(all, target.any)?.id;
  return pick(
    all.filter((task) => task.person.name === name && isLive(task)),
    target.own,
  )?.id;
}

function credentialOf(world: World, { number, lifeMs }: Token) {
  const text = `token-${number}`;
  const expiresAt = world.clock.now() + lifeMs;
  return { userToken: { token: text, expiresAt }, credential: { hash: sha256(text), expiresAt } };
}

function runSend(world: World, sent: Send): Promise<string> {
  const { person, messageId, text } = sent;
  const taskId = taskIdOf(world, sent);
  // Both together are mostly refused.
  const contextId = taskId === undefined || sent.both ? sent.contextId : undefined;
  return deliver(world, { person, messageId, text, contextId, taskId }, sent);
}

function describe(
  world: World,
  { person, messageId, text, contextId, taskId }: Sending,
  token: Token | undefined,
): string {
  const parts = [
    `${person.name} sends ${messageId ?? 'without an id'} ${JSON.stringify(text)}`,
    contextId && `in ${contextId}`,
    taskId && `to ${numberOf(world.model, taskId)}`,
    token && `with token ${token.number}`,
  ];
  return parts.filter((part) => part).join(' ');
}

async function deliver(
  world: World,
  sending: Sending,
  { process: at, token, slot }: Pick<Send, 'process' | 'token' | 'slot'>,
): Promise<string> {
  const { model } = world;
  const { person, messageId, text, contextId, taskId } = sending;
  const tokens = token && credentialOf(world, token);
  const process = pick(world.processes, at);
  assert.ok(process);
  const said = describe(world, sending, token);
  process.keepsSlots = slot && model.recovery === 'rerun';
  const call = process.operations.sendMessage(
    person.edge,
    {
      caller: { owner: person.owner, ...(tokens ? { userToken: tokens.userToken } : {}) },
      message: {
        ...{ messageId: messageId ?? world.ids.next(), role: 'ROLE_USER', parts: [{ text }] },
        ...(taskId === undefined ? {} : { taskId }),
        ...(contextId === undefined ? {} : { contextId }),
      },
      ...(messageId === null ? {} : { key: messageId }),
      deadlineMs: DEADLINE_MS,
    },
    { returnImmediately: true },
    new AbortController().signal,
  );
  const outcome = decide(model, sending);
  if ('refused' in outcome) {
    await assert.rejects(
      call,
      (error) => isDomainError(error, outcome.refused),
      `${said}: ${outcome.refused} is expected`,
    );
    assert.deepEqual(process.begun(), []);
    return `${said}: ${outcome.refused}`;
  }
  const answer = await call;
  assert.ok('task' in answer, said);
  const task = accepted(world, sending, answer.task, outcome);
  const begins = process.keepsSlots && 'creates' in outcome;
  await runBegun(world, process, begins ? task : undefined);
  if (tokens) renew(model, person, tokens.credential);
  expectSeen(answer.task, task);
  world.sent.push(sending);
  return `${said}: ${Object.keys(outcome)[0]} ${numberOf(world.model, task.id)}${begins ? ', begun' : ''}`;
}

/** The turn of a new task that began with its message, and no other. */
async function runBegun(world: World, process: Process, task: ModelTask | undefined): Promise<void> {
  const [claimed, ...others] = process.begun();
  assert.equal(claimed !== undefined, task !== undefined, 'its turn has begun');
  assert.deepEqual(others, []);
  const turn = task?.turns.get(1);
  if (!task || !turn || !claimed) return;
  const expected = claim(world.model, task, turn, process.worker);
  assert.ok(expected?.starts);
  assert.deepEqual([claimed.lost, claimed.fence.attempt, claimed.pending], [false, turn.attempt, []]);
  await world.start(process, claimed, expected.attempt);
  assert.ok(world.running.at(-1)?.puppet, 'its agent is started');
}

function accepted(
  world: World,
  sending: Sending,
  real: Task,
  outcome: Exclude<ReturnType<typeof decide>, { refused: unknown }>,
): ModelTask {
  const { model } = world;
  if ('repeats' in outcome) {
    assert.equal(real.id, outcome.repeats.id, 'a repeat answers the task of the first call');
    return outcome.repeats;
  }
  if ('continues' in outcome) {
    assert.equal(real.id, outcome.continues.id, 'it goes into that task');
    follow(model, sending, outcome.continues);
    remember(model, sending, outcome.continues);
    return outcome.continues;
  }
  assert.ok(!model.tasks.has(real.id), 'the task is a new one');
  const { contextId } = real;
  assert.ok(
    sending.contextId === undefined ? isNewContext(world, contextId) : contextId === sending.contextId,
    'its context is the one that was asked for, or new',
  );
  const task = create(model, sending, { id: real.id, contextId });
  remember(model, sending, task);
  return task;
}

function isNewContext({ model }: World, contextId: string): boolean {
  return [...model.tasks.values()].every((task) => task.contextId !== contextId);
}

/** The same again: after an answer that was lost, or with other words under the same id. */
const again = fc.record({
  index: fc.nat(40),
  process,
  changed: fc.integer({ min: 0, max: 4 }),
  token: fc.option(token, { nil: undefined, freq: 4 }),
  slot: fc.boolean(),
});

export const callerCommands: Commands = [
  weighted(
    16,
    send.map((sent) => command(`send ${sent.person.name}`, sent, runSend)),
  ),

  weighted(
    3,
    again.map((args) =>
      command('send again', args, async (world, { index, changed, ...how }) => {
        const first = pick(world.sent, index);
        if (!first) return undefined;
        return `again: ${await deliver(world, changed === 0 ? { ...first, text: 'changed' } : first, how)}`;
      }),
    ),
  ),

  weighted(
    1,
    fc.record({ person, process, task: fc.nat(40), own: fc.boolean() }).map((args) =>
      command('cancel', args, async (world, { person: who, task: index, own, process: at }) => {
        const all = [...world.model.tasks.values()];
        const task = own
          ? liveFirst(
              all.filter((each) => each.person === who),
              index,
            )
          : pick(all, index);
        if (!task) return undefined;
        const call = pick(world.processes, at)?.operations.cancelTask({ owner: who.owner }, task.id);
        assert.ok(call);
        const refused = cancel(world.model, who, task.id);
        if (refused) await assert.rejects(call, (error) => isDomainError(error, refused), refused);
        else assert.equal((await call).status.state, 'TASK_STATE_CANCELED');
        return `${who.name} cancels task ${task.number}: ${refused ?? 'CANCELED'}`;
      }),
    ),
  ),

  weighted(
    3,
    fc.record({ person, process, token }).map((args) =>
      command('token', args, async (world, { person: who, process: at, token: brought }) => {
        const { userToken, credential } = credentialOf(world, brought);
        await pick(world.processes, at)?.operations.renewUserToken({ owner: who.owner, userToken });
        renew(world.model, who, credential);
        return `${who.name} brings token ${brought.number} for ${brought.lifeMs} ms`;
      }),
    ),
  ),

  weighted(
    1,
    fc.record({ person, process, task: fc.nat(40) }).map((args) =>
      command('look', args, async (world, { person: who, process: at, task: index }) => {
        const process = pick(world.processes, at);
        assert.ok(process);
        await expectList(process, world, who.name);
        const task = pick([...world.model.tasks.values()], index);
        if (task) {
          await expectNoTask(process, task.id, task.person.name);
          world.model.touched.add(task.id);
        }
        return `${who.name} lists`;
      }),
    ),
  ),
];
