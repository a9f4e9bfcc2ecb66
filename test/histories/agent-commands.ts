import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DomainError, isDomainError } from '../../core/errors.ts';
import type { Update } from '../../core/ports/agent.ts';
import { TURN_TEXTS } from '../../core/runtime/turn-texts.ts';
import { sha256 } from '../../src/system-clock.ts';
import { type Command, type Commands, command, pick, weighted } from './command.ts';
import { FILE, textOfParts } from './compare.ts';
import { beginStep, chunk, end, endStep, fail, type ModelAttempt, park, progress, takeInbox } from './model-turns.ts';
import { expectOver, nameOf, obedient, startFlushTimer } from './running-turns.ts';
import type { Running, World } from './world.ts';

/* What agents do in their turns, also after their lease is lost. */

const attempt = fc.nat(20);
const BIG = 'Größe \u{1f40b} "\u2028" '.repeat(4_000);

type Act = {
  readonly label: string;
  readonly update: Update;
  readonly model: (world: World, attempt: ModelAttempt) => void;
};

const ENDS = [
  'COMPLETED',
  'COMPLETED',
  'COMPLETED',
  'COMPLETED',
  'INPUT_REQUIRED',
  'INPUT_REQUIRED',
  'INPUT_REQUIRED',
  'INPUT_REQUIRED',
  'AUTH_REQUIRED',
  'FAILED',
  'REJECTED',
  'CANCELED',
] as const;

function statusAct(state: (typeof ENDS)[number] | 'WORKING', said: string): Act {
  const full = `TASK_STATE_${state}` as const;
  return {
    label: `says ${state}${said === '' ? '' : ` ${JSON.stringify(said)}`}`,
    update: { state: full, ...(said === '' ? {} : { message: said }) },
    model: ({ model }, mine) => {
      if (full === 'TASK_STATE_WORKING') progress(model, mine, said);
      else end(model, mine, full, said);
    },
  };
}

interface Written {
  readonly artifactId: string;
  readonly text: string;
  readonly name: string | undefined;
  readonly append: boolean;
  readonly last: boolean;
  readonly file: boolean;
}

function artifactAct({ artifactId, text, name, append, last, file }: Written): Act {
  const parts = file ? [{ text }, { raw: 'AAAA'.repeat(20_000), filename: 'f.bin' }] : [{ text }];
  const given = { artifactId, text: file ? text + FILE : text, name, append, last: last || file };
  return {
    label: `${append ? 'appends to' : 'writes'} ${artifactId}${name ? ` (${name})` : ''}: ${text.length > 20 ? `${text.length} characters` : text}${file ? ' and a file' : ''}${last ? ', the last chunk' : ''}`,
    update: { artifact: { artifactId, parts, ...(name === undefined ? {} : { name }) }, append, lastChunk: last },
    model: ({ model }, mine) => chunk(model, mine, given),
  };
}

const said = fc.constantFrom('', 'on it', 'well');
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...ENDS), said).map(([state, text]) => statusAct(state, text)) },
  { weight: 3, arbitrary: said.map((text) => statusAct('WORKING', text)) },
  {
    weight: 9,
    arbitrary: fc
      .record({
        artifactId: fc.constantFrom('a', 'a', 'a', 'b'),
        text: fc.oneof(
          { weight: 9, arbitrary: fc.constantFrom('x', 'yy', 'zzz') },
          { weight: 1, arbitrary: fc.constant(BIG) },
        ),
        name: fc.option(fc.constantFrom('A', 'B'), { nil: undefined, freq: 3 }),
        append: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
        last: fc.integer({ min: 0, max: 2 }).map((n) => n === 0),
        file: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      })
      .map(artifactAct),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Act>({
      label: 'replies',
      update: { reply: 'hello' },
      model: ({ model }, mine) => end(model, mine, 'TASK_STATE_COMPLETED', 'hello'),
    }),
  },
);

/** Something that an agent does in one of its turns. */
function inTurn(
  name: string,
  run: (
    world: World,
    mine: Running & { readonly puppet: NonNullable<Running['puppet']> },
  ) => Promise<string | undefined> | string | undefined,
): fc.Arbitrary<Command> {
  return attempt.map((index) =>
    command(name, index, async (world) => {
      const mine = pick(obedient(world), index);
      if (!mine?.puppet) return undefined;
      const who = nameOf(world, mine);
      const told = await run(world, { ...mine, puppet: mine.puppet });
      startFlushTimer(world.model, mine.attempt);
      await expectOver(world);
      return told && `${who} ${told}`;
    }),
  );
}

export const agentCommands: Commands = [
  weighted(
    60,
    act.chain((given) =>
      inTurn(given.label, (world, { puppet, attempt: mine }) => {
        puppet.yield(given.update);
        given.model(world, mine);
        return given.label;
      }),
    ),
  ),

  weighted(
    1,
    inTurn('throws', ({ model }, { puppet, attempt: mine }) => {
      puppet.throw(new Error('broken'));
      fail(model, mine, TURN_TEXTS.failed);
      return 'throws';
    }),
  ),

  weighted(
    1,
    inTurn('returns', ({ model }, { puppet, attempt: mine }) => {
      puppet.return();
      fail(model, mine, TURN_TEXTS.silent);
      return 'ends without a word';
    }),
  ),

  weighted(
    3,
    fc.nat(3).chain((token) =>
      inTurn('needs a token', ({ model }, { puppet, attempt: mine }) => {
        const tokenHash = token === 3 ? '' : sha256(`token-${token}`);
        puppet.throw(new DomainError('USER_TOKEN_REQUIRED', 'token', { tokenHash }));
        park(model, mine, 'token', tokenHash);
        return `needs another token than ${token === 3 ? 'none' : token}`;
      }),
    ),
  ),

  weighted(
    9,
    inTurn('inbox', ({ model }, { puppet, attempt: mine }) => {
      const history = model.tasks.get(mine.taskId)?.history;
      const real = puppet.turn.inbox().map(({ parts }) => `user: ${textOfParts(parts)}`);
      const ordinals = takeInbox(mine);
      const expected = ordinals.map((ordinal) => history?.[ordinal - 1] ?? real[ordinals.indexOf(ordinal)]);
      assert.deepEqual(real, expected, 'the inbox');
      return `takes ${ordinals.length === 0 ? 'nothing' : `message ${ordinals.join(', ')}`} from its inbox`;
    }),
  ),

  weighted(
    5,
    fc.tuple(fc.constantFrom('k1', 'k2'), fc.nat(99)).chain(([key, value]) =>
      inTurn(`step ${key}`, async (world, { puppet, attempt: mine, effects }) => {
        const expected = beginStep(world.model, mine, key);
        let finish = (): void => {};
        const done = new Promise<void>((resolve) => {
          finish = resolve;
        });
        const result = puppet.turn.step(key, async () => {
          await done;
          return value;
        });
        if (expected !== 'starts') finish();
        if (expected === 'refused') {
          await assert.rejects(result, (error) => isDomainError(error, 'LEASE_LOST'));
          return `is refused step ${key}`;
        }
        if (expected !== 'starts') {
          assert.equal(await result, expected.result, 'a finished step answers its result');
          return `runs step ${key} again: ${expected.result}`;
        }
        // It is looked at when the effect is over, and may be refused before anybody looks.
        result.catch(() => undefined);
        effects.push({ key, value, finish, result });
        return `starts step ${key}: ${value}`;
      }),
    ),
  ),

  weighted(
    5,
    fc.nat(3).chain((index) =>
      inTurn('step ends', async ({ model }, { attempt: mine, effects }) => {
        const effect = pick(effects, index);
        if (!effect) return undefined;
        effects.splice(effects.indexOf(effect), 1);
        effect.finish();
        const expected = endStep(model, mine, effect.key, effect.value);
        if (expected === undefined) {
          await assert.rejects(effect.result, (error) => isDomainError(error, 'LEASE_LOST'));
          return `is refused the result of step ${effect.key}`;
        }
        assert.equal(await effect.result, expected, 'the first result of a step counts');
        return `ends step ${effect.key}: ${expected}`;
      }),
    ),
  ),
];
