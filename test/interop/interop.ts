import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CLIENTS, type Prepared } from './clients.ts';
import { runCommand } from './command.ts';
import { type ClientInput, type ClientLine, EDGES, KNOWN_FAULTS, SCENARIOS } from './scenarios.ts';
import { type Stage, setStage } from './stage.ts';

/*
 * The running service, driven by the official clients of four languages. Not part of `npm test`: it needs toolchains
 * and package registries. A client that cannot be had here is skipped with the reason, never passed.
 */

const PLAY_MS = 180_000;
const asked = (process.env.INTEROP_LANGUAGES ?? '').split(',').filter((language) => language !== '');
const clients = CLIENTS.filter(({ language }) => asked.length === 0 || asked.includes(language.toLowerCase()));
if (clients.length === 0) throw new Error(`no client is of ${asked.join(' or ')}`);

interface Play {
  readonly client: string;
  readonly results: ReadonlyMap<string, { readonly ok: boolean; readonly detail: string }>;
  readonly remarks: string;
}

async function play(command: readonly string[], input: ClientInput): Promise<Play> {
  const result = await runCommand([...command, JSON.stringify(input)], { limitMs: PLAY_MS });
  const results = new Map<string, { readonly ok: boolean; readonly detail: string }>();
  let client = 'a client that did not say its version';
  for (const text of result.stdout.split('\n').filter((line) => line.startsWith('{'))) {
    const line = JSON.parse(text) as ClientLine;
    if ('client' in line) client = `${line.client} ${line.version}, ${line.runtime}`;
    else results.set(line.scenario, line);
  }
  return { client, results, remarks: result.stderr.trim().slice(-2_000) };
}

let stage: Stage;
before(async () => {
  stage = await setStage();
});
after(() => stage.close());

for (const { language, prepare } of clients) {
  let prepared: Prepared | undefined;
  for (const edge of EDGES) {
    describe(`${language} client on /${edge === 'a2a' ? 'a2a' : 'rovo/a2a'}`, () => {
      let played: Play | undefined;
      let calls = 0;
      before(async () => {
        prepared ??= await prepare();
        if ('unavailable' in prepared) return;
        const headersBefore = stage.headersGiven(edge);
        played = await play(prepared.command, stage.input(edge));
        calls = stage.headersGiven(edge) - headersBefore;
      });

      test('names its version', (t) => {
        if (prepared && 'unavailable' in prepared) return t.skip(prepared.unavailable);
        t.diagnostic(`${language}: ${played?.client}`);
        assert.match(played?.client ?? '', / \d+\.\d+\.\d+/, played?.remarks);
      });

      for (const [name, promise] of Object.entries(SCENARIOS[edge])) {
        test(`${name}: ${promise}`, (t) => {
          if (prepared && 'unavailable' in prepared) return t.skip(prepared.unavailable);
          const result = played?.results.get(name);
          assert.ok(result, `the client said nothing about it\n${played?.remarks}`);
          const known = KNOWN_FAULTS[`${language} ${edge} ${name}`];
          if (known !== undefined) {
            assert.ok(!result.ok, 'it passes: take it off the list of known faults');
            return t.skip(`known fault of the client: ${known}`);
          }
          assert.ok(result.ok, result.detail);
          t.diagnostic(result.detail);
        });
      }

      test('carries new credentials with every call', (t) => {
        if (prepared && 'unavailable' in prepared) return t.skip(prepared.unavailable);
        assert.ok(calls > Object.keys(SCENARIOS[edge]).length, `${calls} calls`);
      });
    });
  }
}

test('the service complained about nothing', () => assert.deepEqual(stage.complaints(), []));
