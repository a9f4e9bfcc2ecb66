import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ResultRow, recordResults } from '../conformance/results-page.ts';
import { tested } from '../conformance/tested.ts';
import { CLIENTS, type InteropClient } from './clients.ts';
import { runCommand } from './command.ts';
import type { Prepared } from './installation.ts';
import { type ClientAbout, clientRow, faultRows } from './result-rows.ts';
import { type ClientInput, type ClientLine, faultOf, type Route, scenariosOf } from './scenarios.ts';
import { type Stage, setStage } from './stage.ts';

/*
 * The running service, driven by the official clients of four languages. Not part of `npm test`: it needs toolchains
 * and package registries. A client that cannot be had here is skipped with the reason, never passed.
 */

const PLAY_MS = 120_000;
const asked = (process.env.INTEROP_LANGUAGES ?? '').split(',').filter((language) => language !== '');
const clients = CLIENTS.filter(({ language }) => asked.length === 0 || asked.includes(language.toLowerCase()));
if (clients.length === 0) throw new Error(`no client is of ${asked.join(' or ')}`);

interface Play {
  /** Undefined when it did not say. */
  readonly about: ClientAbout | undefined;
  readonly results: ReadonlyMap<string, { readonly ok: boolean; readonly detail: string }>;
  readonly remarks: string;
  readonly calls: number;
  /** Why nothing was played. */
  readonly skipped?: string;
}

const NOTHING: Play = { about: undefined, results: new Map(), remarks: '', calls: 0 };

const routeName = ({ edge, binding, protocol }: Route): string =>
  `/${edge === 'a2a' ? 'a2a' : 'rovo/a2a'}, ${binding} ${protocol}`;

async function play(command: readonly string[], input: ClientInput): Promise<Play> {
  const result = await runCommand([...command, JSON.stringify(input)], { limitMs: PLAY_MS });
  const results = new Map<string, { readonly ok: boolean; readonly detail: string }>();
  let about: ClientAbout | undefined;
  for (const text of result.stdout.split('\n').filter((line) => line.startsWith('{'))) {
    const line = JSON.parse(text) as ClientLine;
    if ('client' in line) about = line;
    else results.set(line.scenario, line);
  }
  return { about, results, remarks: result.stderr.trim().slice(-2_000), calls: 0 };
}

let stage: Stage;
const prepared = new Map<InteropClient, Promise<Prepared>>();
before(async () => {
  // All at once: installing is waiting for a network.
  for (const client of clients) {
    const ready = client.prepare();
    ready.catch(() => {});
    prepared.set(client, ready);
  }
  stage = await setStage();
});
const rows: ResultRow[] = [];
after(async () => {
  await stage.close();
  if (process.env.INTEROP_RECORD !== 'yes') return;
  const all = CLIENTS.flatMap(({ routes }) => routes).length;
  assert.equal(rows.length, all, '--record needs every client on every route');
  recordResults('client results', rows);
  recordResults('known faults of clients', faultRows());
});

/** All its routes at once: most of a play is waiting, and none sees the tasks of another. */
function playAll(client: InteropClient): (route: Route) => Promise<Play> {
  const plays = new Map<Route, Promise<Play>>();
  const begin = async (route: Route): Promise<Play> => {
    const ready = await prepared.get(client);
    if (ready === undefined || 'unavailable' in ready)
      return { ...NOTHING, skipped: ready?.unavailable ?? 'not asked for' };
    const name = encodeURIComponent(`${client.language} ${routeName(route)}`);
    const said = await play(ready.command, stage.input(route, name));
    return { ...said, calls: stage.headersGiven(name) };
  };
  return (route) => {
    if (plays.size === 0) for (const each of client.routes) plays.set(each, begin(each));
    return plays.get(route) ?? Promise.reject(new Error('no such route'));
  };
}

for (const client of clients) {
  const playOf = playAll(client);
  for (const route of client.routes) {
    describe(`${client.language} client on ${routeName(route)}`, () => {
      let played = NOTHING;
      before(async () => {
        played = await playOf(route);
      });

      test('names its version', (t) => {
        if (played.skipped !== undefined) return t.skip(played.skipped);
        t.diagnostic(`${client.language}: ${Object.values(played.about ?? {}).join(', ')}`);
        assert.match(played.about?.version ?? '', /^\d+\.\d+\.\d+/, played.remarks);
      });

      for (const [name, promise] of scenariosOf(route)) {
        test(`${name}: ${promise}`, (t) => {
          if (played.skipped !== undefined) return t.skip(played.skipped);
          const result = played.results.get(name);
          assert.ok(result, `the client said nothing about it\n${played.remarks}`);
          const known = faultOf(client.language, route, name);
          if (known !== undefined) {
            assert.ok(!result.ok, 'it passes: take it off the list of known faults');
            return t.skip(`known fault of the client: ${known}`);
          }
          assert.ok(result.ok, result.detail);
          t.diagnostic(result.detail);
        });
      }

      after(() => {
        if (played.about) rows.push(clientRow(route, { ...played.about, ...tested() }, sumOf(client, route, played)));
      });

      test('carries new credentials with every call', (t) => {
        if (played.skipped !== undefined) return t.skip(played.skipped);
        assert.ok(played.calls > scenariosOf(route).length, `${played.calls} calls`);
      });
    });
  }
}

function sumOf(client: InteropClient, route: Route, { results }: Play) {
  const names = scenariosOf(route).map(([name]) => name);
  const skipped = names.filter((name) => faultOf(client.language, route, name) !== undefined).length;
  const passed = names.filter((name) => results.get(name)?.ok).length;
  return { passed, failed: names.length - passed - skipped, skipped };
}

test('the service complained about nothing', () => assert.deepEqual(stage.complaints(), []));
