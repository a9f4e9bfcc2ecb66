import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { briefAgent } from '../../adapters/agents/brief/brief-agent.ts';
import type { Invocation } from '../../core/ports/agent.ts';
import { assigned, done, item, mentioned, run, site } from './brief-fixture.ts';
import { agentMessage, earlierTask, fakeTurn, runTurn, userMessage } from './fake-turn.ts';

describe('briefAgent on an assignment', () => {
  it('streams the brief as one artifact while it reads, and ends with a draft [3.7-artifacts]', async () => {
    const ran = await run({ invocation: assigned });
    assert.equal(ran.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(ran.progress, [
      'Reading this work item',
      'Looking at what SHOP-1 depends on',
      'Reading the comments of SHOP-1',
    ]);
    const chunks = ran.updates.flatMap((update) => ('artifact' in update ? [update] : []));
    assert.ok(chunks.length >= 6);
    assert.deepEqual([...new Set(chunks.map(({ artifact }) => artifact.artifactId))], ['brief']);
    assert.deepEqual(
      chunks.map(({ append }) => append),
      chunks.map((_, index) => index > 0),
    );
    assert.deepEqual(
      chunks.map(({ lastChunk }) => lastChunk),
      chunks.map((_, index) => index === chunks.length - 1),
    );
    assert.deepEqual(ran.artifact.match(/^#+ .*$/gm), [
      '# SHOP-1 Item 1',
      '## Where it stands',
      '## What blocks it',
      '## Subtasks',
      '## Who talked last',
      '## What to do next',
    ]);
    assert.match(ran.text, /^\*\*SHOP-1\*\* Item 1\n/);
    assert.match(ran.text, /<details><summary>More about SHOP-1<\/summary>\n\n[\s\S]*\n\n<\/details>$/);
    assert.ok(ran.text.indexOf('Next:') < ran.text.indexOf('<details>'));
  });

  it('says what matters', async () => {
    const { artifact } = await run({ invocation: assigned });
    assert.match(artifact, /\*\*Doing\*\*, assigned to Bob, due 2026-11-18 \(2 days ago\)/);
    assert.match(
      artifact,
      /Blocked by 1 open item:\n\n- SHOP-4 Item 4 \(Doing\)\n\nOut of the way: SHOP-6\.\n\nWaiting for it: SHOP-5\./,
    );
    assert.match(artifact, /1 of 2 subtasks done\.\n\n- \[x\] SHOP-2 Item 2 \(Done\)\n- \[ \] SHOP-3 Item 3 \(To Do\)/);
    assert.match(
      artifact,
      /Bob on 2026-11-19:\n\n> Working on it\.[\s\S]*not answered by anybody else:\n\n- Bob, 2026-11-19: Is Friday fine\?\n/,
    );
    assert.match(
      artifact,
      /1\. Clear what blocks it: SHOP-4\.\n2\. It was due 2 days ago.*\n3\. Answer Bob.*\n4\. Go on with SHOP-3 Item 3\./,
    );
  });

  it('reads by the id that Jira gave, and asks for what is around it by key only', async () => {
    const { jira, asked } = site();
    await run({ jira, invocation: assigned });
    assert.deepEqual(asked, [
      'issue 10001',
      'search parent = "SHOP-1" order by created',
      'search key in ("SHOP-4", "SHOP-6")',
      'comments 10001',
    ]);
  });

  it('what is done needs nothing more', async () => {
    const { jira } = site([item(1, { status: done })]);
    assert.match((await run({ jira, invocation: assigned })).text, /Next: Nothing: it is done\./);
  });

  it('two runs say the same', async () => {
    assert.deepEqual((await run({ invocation: assigned })).updates, (await run({ invocation: assigned })).updates);
  });
});

describe('briefAgent on a mention', () => {
  it('answers what was asked before anything else', async () => {
    const { text, artifact } = await run({
      invocation: mentioned('[@Agent](~712020:a) what blocks this, and who is on it?'),
    });
    assert.match(text, /^\*\*SHOP-1\*\* Item 1\n\nAssigned to Bob\.\n\nBlocked by 1 open item:\n\n- SHOP-4/);
    assert.match(text, /<details>/);
    assert.match(artifact, /## What to do next/);
  });

  it('without a question it gives the summary', async () => {
    assert.match((await run({ invocation: mentioned('[@Agent](~1) please') })).text, /1 of 2 subtasks done\.\n\nNext:/);
  });

  it('reads the other work items that the comment names', async () => {
    const { text } = await run({ invocation: mentioned('compare with SHOP-7 and SHOP-1') });
    assert.deepEqual(text.match(/^\*\*SHOP-\d\*\*/gm), ['**SHOP-1**', '**SHOP-7**']);
  });
});

describe('briefAgent on an automation rule', () => {
  const rule = (prompt: string): Invocation => ({ type: 'AUTOMATION', prompt });

  it('briefs the work items of the prompt', async () => {
    const ran = await run({ invocation: rule('Brief SHOP-2, then SHOP-3.') });
    assert.deepEqual(ran.artifact.match(/^# .*$/gm), ['# SHOP-2 Item 2', '# SHOP-3 Item 3']);
    assert.equal(ran.state, 'TASK_STATE_COMPLETED');
  });

  it('stops at five and says so', async () => {
    const { jira, asked } = site([1, 2, 3, 4, 5, 6, 7].map((number) => item(number)));
    const ran = await run({ jira, invocation: rule('SHOP-1 SHOP-2 SHOP-3 SHOP-4 SHOP-5 SHOP-6 SHOP-7') });
    assert.equal(asked.filter((one) => one.startsWith('issue')).length, 5);
    assert.match(ran.text, /left out 2\.$/);
  });

  it('without a work item it says what it can do', async () => {
    const ran = await run({ invocation: rule('Say hello') });
    assert.equal(ran.state, 'TASK_STATE_COMPLETED');
    assert.match(ran.text, /name up to five work items/);
  });
});

describe('briefAgent in chat', () => {
  it('answers about the work item in the text, in short', async () => {
    const ran = await run({ text: 'who is on SHOP-1?' });
    assert.equal(ran.text, '**SHOP-1** Item 1\n\nAssigned to Bob.');
    assert.equal(ran.chunks, 0);
  });

  it('a key alone gets the whole brief', async () => {
    const ran = await run({ text: 'SHOP-1' });
    assert.match(ran.artifact, /^# SHOP-1 Item 1/);
  });

  it('a follow-up is about what was last answered, not about what that answer quoted', async () => {
    const earlier = [
      earlierTask(
        'thanks!',
        'TASK_STATE_INPUT_REQUIRED',
        'Which work item do you mean? Tell me its key, for example ABC-123.',
      ),
      earlierTask('and this one?', 'TASK_STATE_COMPLETED', '**SHOP-1** Item 1\n\nBlocked by SHOP-4.'),
      earlierTask('What is SHOP-7?', 'TASK_STATE_COMPLETED', '**SHOP-7** Item 7\n\nfine'),
    ];
    const ran = await run({ text: 'what about its subtasks?', earlier });
    assert.match(ran.text, /^\*\*SHOP-1\*\* Item 1\n\n1 of 2 subtasks done\./);
  });

  it('a follow-up to something that was never answered is about what was asked', async () => {
    const earlier = [
      earlierTask('hm?', 'TASK_STATE_CANCELED'),
      earlierTask('who is on SHOP-7', 'TASK_STATE_FAILED', 'no'),
    ];
    assert.match((await run({ text: 'who is on it?', earlier })).text, /^\*\*SHOP-7\*\* /);
  });

  it('a follow-up within the same task finds the answer of the turn before', async () => {
    const history = [userMessage('who is on SHOP-7', 'm-0'), agentMessage('**SHOP-7** Item 7\n\nBob')];
    assert.match((await run({ text: 'when is it due?', history })).text, /^\*\*SHOP-7\*\* Item 7\n\nNo due date\.$/);
  });

  it('asks which work item when nothing says it, and takes the answer in small letters', async () => {
    const asked = await run({ text: 'what blocks it?' });
    assert.equal(asked.state, 'TASK_STATE_INPUT_REQUIRED');
    assert.match(asked.text, /Which work item.*for example [A-Z]+-\d+/);
    const answered = await run({
      text: 'shop-1',
      history: [userMessage('what blocks it?', 'm-0'), agentMessage(asked.text)],
    });
    assert.match(answered.text, /^\*\*SHOP-1\*\* Item 1\n\nBlocked by 1 open item/);
  });

  it('a follow-up that comes with the work item is a conversation too', async () => {
    const ran = await run({ text: 'who is on it?', invocation: { type: 'CHAT', issue: { id: '10001' } } });
    assert.equal(ran.text, '**SHOP-1** Item 1\n\nAssigned to Bob.');
  });

  it('an invocation of a kind from next year is answered', async () => {
    assert.equal(
      (await run({ text: 'x', invocation: { ...assigned, type: 'ISSUE_TRANSITION' } })).state,
      'TASK_STATE_COMPLETED',
    );
    assert.equal((await run({ text: 'SHOP-1', invocation: { type: 'NEW' } })).state, 'TASK_STATE_COMPLETED');
  });

  it('without Jira it says what it is', async () => {
    const ran = await runTurn(briefAgent, fakeTurn({ text: 'what blocks SHOP-1?' }));
    assert.equal(ran.state, 'TASK_STATE_COMPLETED');
    assert.match(ran.text, /I read Jira work items[\s\S]*without access to Jira/);
  });
});

describe('briefAgent and its inbox', () => {
  it('a work item that somebody adds is read before the end', async () => {
    const inbox = [[userMessage('also check SHOP-2 and SHOP-1')], [userMessage('and when is it due?')]];
    const ran = await run({ text: 'who is on SHOP-1?', inbox });
    assert.equal(
      ran.text,
      '**SHOP-1** Item 1\n\nAssigned to Bob.\n\nDue 2026-11-18 (2 days ago).\n\n**SHOP-2** Item 2\n\nAssigned to Bob.\n\nNo due date.',
    );
  });

  it('one that comes before the question saves the question', async () => {
    assert.match(
      (await run({ text: 'who is on it?', inbox: [[userMessage('SHOP-2 I mean')]] })).text,
      /^\*\*SHOP-2\*\*/,
    );
  });
});
