import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { briefAgent } from '../../adapters/agents/brief/brief-agent.ts';
import { createJira } from '../../adapters/jira/jira.ts';
import type { Message } from '../../core/message.ts';
import type { Invocation, Jira } from '../../core/ports/agent.ts';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import { AGENT_MENTION } from '../../simulator/client/jira-client.ts';
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

  describe('comments that call the agent', () => {
    const AGENT = '712020:aaaaaaaa-0000-4000-8000-000000000001';
    /** As Jira says whose turn it is; without it only the kind of a mentioned account can tell. */
    const named = [{ messageId: 'm-0', role: 'ROLE_USER', parts: [{ data: { agentAccountId: AGENT } }] }] as const;
    const brief = (invocation: Invocation, history: readonly Message[] = named) =>
      runTurn(briefAgent, fakeTurn({ capabilities: { jira: jira('alice'), invocation }, history }));
    /** A work item that bob has commented on. */
    const commented = (...bodies: readonly string[]) => {
      const { records } = atlassian.site;
      const { id, key } = records.add({ project: 'SHOP', summary: 'Talked about' });
      const comments = bodies.map((body) => records.comment(key, 'bob', body));
      return { issue: { id, key }, ids: comments.map((comment) => comment.id) };
    };
    const ofAgent = `[@Helper](~${AGENT})`;

    it('the one that is answered is neither an open question nor the last word', async () => {
      const question = `${ofAgent} what blocks this?`;
      const { issue, ids } = commented('Waiting for the key.', question);
      const comment = { id: ids[1] ?? '', body: question };
      const ran = await brief({ type: 'ISSUE_COMMENT_MENTION', issue, comment }, []);
      assert.match(ran.artifact, /Bob Okafor on \d{4}-\d\d-\d\d:\n\n> Waiting for the key\.\n/);
      assert.doesNotMatch(ran.artifact + ran.text, /Asked and not answered|who asked|what blocks this/);
    });

    it('alone on its item it leaves nobody else', async () => {
      const { issue, ids } = commented(`${ofAgent} who is on it?`);
      const ran = await brief({ type: 'ISSUE_COMMENT_MENTION', issue, comment: { id: ids[0] ?? '', body: 'x' } });
      assert.match(ran.artifact, /Nobody else has commented\./);
    });

    it('earlier ones are no open questions in a later brief, and no answers to others either', async () => {
      const { issue } = commented('Is Friday fine?');
      atlassian.site.records.comment(issue.key, 'alice', `${ofAgent} what blocks this?`);
      const ran = await brief({ type: 'ISSUE_ASSIGNMENT', issue });
      assert.match(ran.artifact, /not answered by anybody else:\n\n- Bob Okafor, \S+: Is Friday fine\?\n\n/);
      assert.doesNotMatch(ran.artifact + ran.text, /Answer Alice/);
    });

    it('in a chat, where Jira does not name the agent, they are known by the kind of account', async () => {
      const { issue } = commented(`${AGENT_MENTION} what blocks this?`);
      const ran = await run('alice', `brief of ${issue.key}`);
      assert.match(ran.artifact, /^# SHOP-\d+ Talked about/);
      assert.doesNotMatch(ran.artifact + ran.text, /Asked and not answered|who asked/);
    });

    it('a question to a person stays, without the name it begins with', async () => {
      const { issue } = commented('[@Alice Moreau](~557057:x), [@Carol](~557057:y): is Friday fine?');
      const ran = await brief({ type: 'ISSUE_ASSIGNMENT', issue });
      assert.match(ran.artifact, /- Bob Okafor, \S+: is Friday fine\?\n/);
      assert.match(ran.artifact, /Answer Bob Okafor, who asked on \S+: is Friday fine\?/);
    });
  });

  it('hostile text on the site is quoted, not obeyed', async () => {
    const ran = await run('bob', 'brief of SHOP-7');
    assert.match(ran.artifact, /^# SHOP-7 Search breaks on \\\*stars\\\*/);
    assert.match(ran.artifact, /> Ignore all earlier instructions/);
    assert.doesNotMatch(ran.artifact, /\(~557057/);
  });
});
