import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { briefAgent } from '../../adapters/agents/brief/brief-agent.ts';
import { DomainError, isDomainError } from '../../core/errors.ts';
import { assigned, item, linked, mentioned, run, site } from './brief-fixture.ts';
import { fakeJira, fakeTurn, jiraError } from './fake-turn.ts';

describe('briefAgent when Jira says no', () => {
  const refusing = (error: Error) => fakeJira({ issue: async () => Promise.reject(error) });

  it('a missing work item is rejected in words that tell nothing', async () => {
    const ran = await run({
      jira: refusing(jiraError('not-found')),
      invocation: { ...assigned, issue: { id: '10008', key: 'PAY-1', summary: 'Secret' } },
    });
    assert.equal(ran.state, 'TASK_STATE_REJECTED');
    assert.equal(ran.text, 'I cannot open this work item: it does not exist, or you have no permission to see it.');
    assert.doesNotMatch(JSON.stringify(ran.updates), /PAY-1|Secret/);
    assert.equal(ran.chunks, 0);
  });

  for (const [reason, text] of [
    ['forbidden', /not allow/],
    ['rate-limited', /too many requests/],
    ['unavailable', /did not answer/],
    ['invalid', /could not be used/],
  ] as const) {
    it(`${reason} fails and says why`, async () => {
      const ran = await run({ jira: refusing(jiraError(reason)), text: 'SHOP-1' });
      assert.equal(ran.state, 'TASK_STATE_FAILED');
      assert.match(ran.text, text);
    });
  }

  it('a request for the user token passes, wherever it comes from', async () => {
    const error = new DomainError('USER_TOKEN_REQUIRED', 'authorize', { tokenHash: 'h' });
    const refuse = async () => Promise.reject(error);
    for (const methods of [{ issue: refuse }, { comments: refuse }, { search: refuse }]) {
      const { jira } = site(undefined, methods);
      await assert.rejects(run({ jira, invocation: assigned }), (thrown) =>
        isDomainError(thrown, 'USER_TOKEN_REQUIRED'),
      );
    }
  });

  it('what can be read is answered, with a word on the rest', async () => {
    const ran = await run({ text: 'who is on SHOP-1 and PAY-1?' });
    assert.equal(ran.state, 'TASK_STATE_COMPLETED');
    assert.match(ran.text, /Assigned to Bob\.\n\nI cannot open PAY-1: it does not exist/);
  });

  it('comments and subtasks that cannot be read do not cost the brief', async () => {
    const refuse = async () => Promise.reject(jiraError('unavailable'));
    const { jira } = site([item(1)], { comments: refuse, search: refuse });
    const ran = await run({ jira, invocation: assigned });
    assert.equal(ran.state, 'TASK_STATE_COMPLETED');
    assert.match(ran.artifact, /What belongs to it could not be read this time\./);
    assert.match(ran.artifact, /The comments could not be read this time\./);
  });

  it('an aborted turn stops reading', async () => {
    const { jira, asked } = site();
    const stop = new AbortController();
    const turn = fakeTurn({ capabilities: { jira, invocation: assigned }, signal: stop.signal });
    const iterator = briefAgent.run(turn)[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.next();
    stop.abort(new Error('canceled'));
    await assert.rejects(async () => {
      for (;;) if ((await iterator.next()).done) return;
    }, /canceled/);
    assert.deepEqual(asked, ['issue 10001']);
  });
});

describe('briefAgent and hostile texts', () => {
  const evil = '[@Everybody](~all) </details><script>alert(1)</script> **SHOP-9** \n# Title\n```\nopen';
  const { jira } = site(
    [
      item(1, {
        summary: evil,
        description: evil,
        assignee: evil,
        reporter: evil,
        type: evil,
        priority: evil,
        labels: [evil],
        status: { name: evil },
        parent: { ...linked(8), summary: evil },
        subtasks: [{ ...linked(2), summary: evil }],
        links: [{ ...linked(4), summary: evil, relation: 'is blocked by' }],
      }),
    ],
    {
      comments: async () => [
        {
          id: '1',
          author: evil,
          body: `${evil}\n\`\`\`\nWhy ${evil.replace('```', '')}?`,
          created: '2026-11-19T09:00:00.000Z',
        },
      ],
    },
  );

  it('notify nobody, break no fold and start no heading [14.1.1-injection]', async () => {
    const ran = await run({ jira, invocation: mentioned(`${evil} status who due blockers subtasks comments next`) });
    for (const text of [ran.text, ran.artifact]) {
      assert.doesNotMatch(text.replace(/\\[\s\S]/g, 'x'), /\]\(\s*~/);
      assert.doesNotMatch(text.replace(/^>.*$/gm, '').replace(/\\[\s\S]/g, 'x'), /<script|^# T|^```/m);
    }
    assert.equal(ran.text.match(/<\s*\/?\s*details/gi)?.length, 2);
    assert.equal(ran.text.match(/^\*\*SHOP-\d+\*\* /gm)?.length, 1);
  });

  it('of any length give a bounded answer', async () => {
    const long = 'word '.repeat(20_000);
    const many = Array.from({ length: 200 }, (_, index) => ({
      ...linked(index + 10),
      summary: long,
      relation: 'is blocked by',
    }));
    const { jira: big } = site(
      [item(1, { summary: long, description: long, subtasks: many, links: many, labels: many.map(() => long) })],
      {
        comments: async () =>
          many.map((_, index) => ({
            id: String(index),
            author: long,
            body: `${long}?`,
            created: '2026-11-19T09:00:00.000Z',
          })),
      },
    );
    const ran = await run({ jira: big, invocation: assigned });
    assert.ok(ran.text.length < 20_000, String(ran.text.length));
    assert.ok(ran.artifact.length < 20_000, String(ran.artifact.length));
  });
});
