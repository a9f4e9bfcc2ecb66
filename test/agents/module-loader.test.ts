import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { briefAgent } from '../../adapters/agents/brief/brief-agent.ts';
import { loadAgent } from '../../adapters/agents/module-loader.ts';
import { fakeTurn, runTurn } from './fake-turn.ts';

const AGENT = '{ async *run() { yield { state: "TASK_STATE_COMPLETED", message: "hi" }; } }';

describe('loadAgent', () => {
  let cwd: string;
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'agents-'));
  });
  after(() => rm(cwd, { recursive: true }));

  const load = async (source: string, name = `${Math.abs(source.length * 7919)}-agent.mjs`) => {
    await writeFile(join(cwd, name), source);
    return loadAgent(`module:./${name}`, { cwd });
  };

  it('brief is the default agent', async () => assert.equal(await loadAgent('brief', { cwd }), briefAgent));

  for (const [name, source] of [
    ['a default export', `export default ${AGENT};`],
    ['an export named agent', `export const agent = ${AGENT};`],
    ['a function that returns one', `export default () => (${AGENT});`],
    ['an async function that returns one', `export default async () => (${AGENT});`],
    [
      'an object of a class',
      `export default new (class A { async *run() { yield { state: "TASK_STATE_COMPLETED", message: "hi" }; } })();`,
    ],
    [
      'a CommonJS-like default with options',
      `export default { ...${AGENT}, recovery: 'rerun', outputModes: ['text/plain'], skills: [{ id: 'a', name: 'A', description: 'x', tags: [] }] };`,
    ],
  ] as const) {
    it(`${name} is an agent`, async () => {
      assert.equal((await runTurn(await load(source), fakeTurn())).text, 'hi');
    });
  }

  it('paths are taken from cwd, absolute ones as they are', async () => {
    await mkdir(join(cwd, 'deep dir'), { recursive: true });
    const path = join(cwd, 'deep dir', 'my #agent.mjs');
    await writeFile(path, `export default ${AGENT};`);
    for (const spec of ['module:./deep dir/my #agent.mjs', `module:${path}`, 'module:../my #agent.mjs']) {
      const from = spec.includes('..') ? join(cwd, 'deep dir', 'deeper') : cwd;
      assert.equal(typeof (await loadAgent(spec, { cwd: from })).run, 'function', spec);
    }
  });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    [
      'no agent among the exports',
      'export const a = 1, b = 2;',
      /neither a default export nor an export "agent"; it exports a, b/,
    ],
    ['no exports at all', 'const nothing = 1;', /it exports nothing/],
    [
      'a value that is no object',
      'export default "x";',
      /"default" of .* is "x"; an agent is an object with a method run/,
    ],
    ['null', 'export default null;', /is null; an agent is an object/],
    ['an object without run', 'export default { go() {} };', /has run: undefined; an agent has a method run/],
    [
      'an unknown recovery',
      `export default { ...${AGENT}, recovery: 'retry' };`,
      /has recovery: "retry"; expected "rerun" or "review"/,
    ],
    [
      'input modes of the wrong shape',
      `export default { ...${AGENT}, inputModes: ['text/plain', 5] };`,
      /has inputModes: an array; expected an array of media types/,
    ],
    [
      'output modes of the wrong shape',
      `export default { ...${AGENT}, outputModes: 'text/plain' };`,
      /has outputModes: "text\/plain"; expected an array of media types/,
    ],
    [
      'skills of the wrong shape',
      `export default { ...${AGENT}, skills: [{ id: 'x' }] };`,
      /has skills: an array; expected an array of \{ id, name/,
    ],
    [
      'a class instead of an object',
      'export default class A { async *run() {} }',
      /is a function that should return an agent, but threw: Class constructor/,
    ],
    ['a function that returns nothing', 'export default () => {};', /is undefined; an agent is an object/],
    ['a module that throws', 'throw new Error("no key set");', /cannot be loaded: no key set/],
    ['a module that does not parse', 'export default {', /cannot be loaded: /],
  ];
  for (const [index, [name, source, message]] of refused.entries()) {
    it(`${name}: refused with what was found`, async () => {
      await assert.rejects(load(source, `refused-${index}.mjs`), { name: 'AgentLoadError', message });
    });
  }

  for (const [name, source, text, line] of [
    ['a module that throws', 'const a = 1;\n\nthrow new Error("no key set");', 'no key set', 3],
    ['a module that does not parse', 'const a = 1;\nexport default {\n', 'Unexpected end of input', 3],
    ['a function that throws', 'export default () => {\n  throw new Error("no key");\n};', 'no key', 2],
    ['an import of what is not there', `\nimport { no } from 'node:fs';\nexport default no;`, "named 'no'", 2],
  ] as const) {
    it(`${name}: the file and line are said`, async () => {
      const file = `placed-${line}-${source.length}.mjs`;
      await assert.rejects(load(source, file), (error: unknown) => {
        const { message } = error as Error;
        assert.ok(message.includes(text) && message.endsWith(`(${join(cwd, file)}:${line})`), message);
        return true;
      });
    });
  }

  it('a module that does not parse, imported by one that does: said as far as it is known', async () => {
    await writeFile(join(cwd, 'broken.mjs'), 'export default {');
    await assert.rejects(load(`import './broken.mjs';\nexport default {};`, 'importing.mjs'), {
      message: /\(in a module that \S+importing\.mjs imports\)$/,
    });
  });

  it('what cannot be found says where it was looked for', async () => {
    await assert.rejects(loadAgent('module:./nowhere.mjs', { cwd }), {
      name: 'AgentLoadError',
      message: new RegExp(join(cwd, 'nowhere.mjs')),
    });
    await assert.rejects(loadAgent('module:no-such-agent-package', { cwd }), {
      message: /package no-such-agent-package cannot be loaded/,
    });
  });

  it('a file without ./ is taken for a package, and is said how it is named', async () => {
    await assert.rejects(loadAgent('module:deep/agent.mjs', { cwd }), (error: Error) => {
      const hint = `; the file ${join(cwd, 'deep/agent.mjs')} is named "module:./deep/agent.mjs"`;
      return error.name === 'AgentLoadError' && error.message.endsWith(hint);
    });
  });

  it('TypeScript that this Node cannot load: compile it first', async () => {
    await assert.rejects(load('export default { async *run(): nothing at all {} };', 'agent.ts'), {
      name: 'AgentLoadError',
      message: /agent\.ts cannot be loaded: .*; compile it first and name the JavaScript file$/,
    });
  });

  it('a field that is nearly one of ours is warned about and the agent runs; other fields are its own', async () => {
    const warnings: string[] = [];
    const source = `export default { ...${AGENT}, recovry: 'rerun', inputMode: [], model: 'x', recovery: 'review' };`;
    await writeFile(join(cwd, 'slips.mjs'), source);
    const agent = await loadAgent('module:./slips.mjs', { cwd, warn: (text) => warnings.push(text) });
    assert.equal((await runTurn(agent, fakeTurn())).text, 'hi');
    assert.deepEqual(warnings, [
      'export "default" of ./slips.mjs has recovry, which means nothing here; did you mean recovery?',
      'export "default" of ./slips.mjs has inputMode, which means nothing here; did you mean inputModes?',
    ]);
  });

  it('a specification that is none says what one is', async () => {
    for (const spec of ['', 'module:', 'Brief', './my-agent.mjs', 'llm']) {
      await assert.rejects(loadAgent(spec, { cwd }), { message: /AGENT is "brief" or "module:<path or package>"/ });
    }
  });
});
