import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadAgent } from '../../adapters/agents/module-loader.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { fakeTurn, runTurn, userMessage } from './fake-turn.ts';

describe('docs/write-an-agent.md: the agent in it', () => {
  let cwd: string;
  let agent: Agent;
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'documented-'));
    const document = await readFile(new URL('../../../docs/write-an-agent.md', import.meta.url), 'utf8');
    const source = /^```js\n([\s\S]*?)^```$/m.exec(document)?.[1];
    assert.ok(source, 'the document has a js block');
    await writeFile(join(cwd, 'my-agent.mjs'), source);
    agent = await loadAgent('module:./my-agent.mjs', { cwd });
  });
  after(() => rm(cwd, { recursive: true }));

  it('shows progress, streams its artifact with what came meanwhile, and completes', async () => {
    const ran = await runTurn(agent, fakeTurn({ text: 'Hello', inbox: [[userMessage('World')]] }));
    assert.deepEqual(ran.progress, ['Filing your words']);
    assert.equal(ran.artifact, 'Hello\nWorld\n');
    assert.equal(ran.state, 'TASK_STATE_COMPLETED');
    assert.equal(ran.text, 'Filed under number 1.');
  });

  it('asks when there is nothing to repeat', async () => {
    const ran = await runTurn(agent, fakeTurn({ text: ' ' }));
    assert.equal(ran.state, 'TASK_STATE_INPUT_REQUIRED');
    assert.equal(ran.text, 'What shall I repeat?');
  });

  it('takes the stored result of a step when the turn is run again', async () => {
    const ran = await runTurn(agent, fakeTurn({ text: 'Hello', steps: new Map([['file', 41]]) }));
    assert.equal(ran.text, 'Filed under number 41.');
  });
});
