import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadAgent } from '../../adapters/agents/module-loader.ts';
import type { Agent, Invocation, Update } from '../../core/ports/agent.ts';
import { mentioned, site } from './brief-fixture.ts';
import { fakeTurn, runTurn, userMessage } from './fake-turn.ts';

describe('docs/write-an-agent.md: the agent in it', () => {
  let cwd: string;
  let agent: Agent;
  let readsJira: Agent;
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'documented-'));
    const document = await readFile(new URL('../../../docs/write-an-agent.md', import.meta.url), 'utf8');
    const sources = [...document.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, source = '']) => source);
    const [echo = '', reader = ''] = sources;
    assert.equal(sources.length, 2, 'every js block of the document is run here');
    await writeFile(join(cwd, 'my-agent.mjs'), echo);
    await writeFile(join(cwd, 'reader.mjs'), reader);
    agent = await loadAgent('module:./my-agent.mjs', { cwd });
    readsJira = await loadAgent('module:./reader.mjs', { cwd });
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

  it('the one that reads Jira answers about the work item, and looks at the comment for what is asked', async () => {
    const { jira } = site();
    const replies = async (invocation?: Invocation) => {
      const turn = fakeTurn({
        text: 'You have been mentioned',
        capabilities: { jira, ...(invocation && { invocation }) },
      });
      const updates: Update[] = [];
      for await (const update of readsJira.run(turn)) updates.push(update);
      return updates;
    };
    assert.deepEqual(await replies(mentioned('what is this?')), [{ reply: 'SHOP-1 is in status Doing.' }]);
    assert.deepEqual(await replies(mentioned('when is it due?')), [{ reply: 'SHOP-1 is due 2026-11-18.' }]);
    assert.deepEqual(await replies(), [{ reply: 'Assign a work item to me, or mention me in one.' }]);
  });
});
