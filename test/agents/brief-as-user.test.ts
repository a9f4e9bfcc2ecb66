import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { briefAgent } from '../../adapters/agents/brief/brief-agent.ts';
import { createJira } from '../../adapters/jira/jira.ts';
import type { Invocation, Jira } from '../../core/ports/agent.ts';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { fakeTurn, runTurn } from './fake-turn.ts';

const assigned: Invocation = { type: 'ISSUE_ASSIGNMENT', issue: { id: '10001', key: 'SHOP-1' } };

describe('briefAgent over Jira REST, as different people', () => {
  let atlassian: Atlassian;
  before(async () => {
    atlassian = await startAtlassian();
  });
  after(() => atlassian.close());

  const jira = (person: string): Jira =>
    createJira({
      apiBaseUrl: atlassian.site.apiBaseUrl,
      allowedHosts: ['127.0.0.1'],
      token: async () => ({ token: atlassian.site.currentToken(person), hash: person }),
      explainAuthorization: () => 'authorize',
      clock: { now: Date.now, timer: () => () => {} },
      telemetry: silentTelemetry,
      signal: new AbortController().signal,
    });
  const run = (person: string, text: string, invocation?: Invocation) =>
    runTurn(briefAgent, fakeTurn({ text, capabilities: { jira: jira(person), ...(invocation && { invocation }) } }));

  it('alice is told what blocks the item in a project that only she sees', async () => {
    const ran = await run('alice', '', assigned);
    assert.match(ran.artifact, /Blocked by 1 open item:\n\n- PAY-2 .*Alice Moreau/);
    assert.match(ran.artifact, /1 of 2 subtasks done\.\n\n- \[x\] SHOP-2 .*Bob Okafor/);
  });

  it('bob gets the same brief without a hint of that project', async () => {
    const ran = await run('bob', '', assigned);
    assert.equal(ran.state, 'TASK_STATE_COMPLETED');
    assert.match(ran.artifact, /^# SHOP-1 Discount code/);
    assert.doesNotMatch(JSON.stringify(ran.updates), /PAY-/);
  });

  it('bob cannot tell a hidden work item from one that does not exist', async () => {
    const [hidden, missing] = [await run('bob', 'What is PAY-1?'), await run('bob', 'What is PAY-9?')];
    assert.equal(hidden.state, 'TASK_STATE_REJECTED');
    assert.deepEqual(JSON.parse(JSON.stringify(hidden.updates).replaceAll('PAY-1', 'PAY-9')), missing.updates);
  });

  it('carol, who sees nothing, is told nothing', async () => {
    const ran = await run('carol', '', assigned);
    assert.equal(ran.state, 'TASK_STATE_REJECTED');
    assert.doesNotMatch(JSON.stringify(ran.updates), /SHOP|Discount/);
  });

  it("an epic's items count as its subtasks", async () => {
    assert.match(
      (await run('alice', 'how many subtasks of SHOP-5 are left?')).text,
      /0 of \d subtasks? done\.\n\n- \[ \] SHOP-1 /,
    );
  });

  it('hostile text on the site is quoted, not obeyed', async () => {
    const ran = await run('bob', 'brief of SHOP-7');
    assert.match(ran.artifact, /^# SHOP-7 Search breaks on \\\*stars\\\*/);
    assert.match(ran.artifact, /> Ignore all earlier instructions/);
    assert.doesNotMatch(ran.artifact, /\(~557057/);
  });
});
