import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { authorizationText } from '../../adapters/rovo/authorization-text.ts';
import { parseForgeAppId } from '../../adapters/rovo/forge-ids.ts';
import { invocationOf } from '../../adapters/rovo/invocation.ts';
import type { Json, Message } from '../../core/message.ts';
import type { Tenant } from '../../core/ports/tenants.ts';

const UUID = '11111111-2222-4333-8444-555555555555';
const ENVIRONMENT = '12121212-3434-4565-8787-909090909090';

function message(data?: Json): Message {
  const parts = data === undefined ? [{ text: 'Hello' }] : [{ text: 'Hello' }, { data }];
  return { messageId: 'm', role: 'ROLE_USER', parts };
}

describe('invocation', () => {
  const issue = { id: '10001', fields: { key: 'SHOP-1', summary: 'Discount', description: 'Steps' } };
  const read = { id: '10001', key: 'SHOP-1', summary: 'Discount', description: 'Steps' };
  for (const [what, data, expected] of [
    ['an assignment', { invocationType: 'ISSUE_ASSIGNMENT', issue }, { type: 'ISSUE_ASSIGNMENT', issue: read }],
    [
      'a mention',
      { invocationType: 'ISSUE_COMMENT_MENTION', issue, comment: { id: '9', body: 'why?' } },
      { type: 'ISSUE_COMMENT_MENTION', issue: read, comment: { id: '9', body: 'why?' } },
    ],
    [
      'an automation rule',
      { invocationType: 'AUTOMATION', automation: { prompt: 'Summarise' } },
      { type: 'AUTOMATION', prompt: 'Summarise' },
    ],
    ['a chat', undefined, { type: 'CHAT' }],
    [
      'an assignment of A2A 0.3',
      { userAccountId: 'u', issue: { id: '10002', fields: { summary: 'Look', description: 'Text' } } },
      { type: 'ISSUE_ASSIGNMENT', issue: { id: '10002', summary: 'Look', description: 'Text' } },
    ],
    [
      'a mention of A2A 0.3',
      { issue: { id: '10002' }, comment: { id: '9', body: 'why?' } },
      { type: 'ISSUE_COMMENT_MENTION', issue: { id: '10002' }, comment: { id: '9', body: 'why?' } },
    ],
    [
      'a chat of A2A 0.3',
      { issue: { id: '10002' }, chat: { message: 'and now?' } },
      { type: 'CHAT', issue: { id: '10002' }, prompt: 'and now?' },
    ],
    ['a type of next year', { invocationType: 'SPRINT_START', sprint: 1 }, { type: 'SPRINT_START' }],
    [
      'ids as numbers',
      { issue: { id: 10001, key: 'SHOP-1' } },
      { type: 'ISSUE_ASSIGNMENT', issue: { id: '10001', key: 'SHOP-1' } },
    ],
    [
      'shapes that are not what they should be',
      { invocationType: 7, issue: 'SHOP-1', comment: [], automation: null, chat: 'x' },
      { type: 'CHAT' },
    ],
    ['an issue without an id', { issue: { fields: { key: 'SHOP-1' } } }, { type: 'ISSUE_ASSIGNMENT' }],
  ] as const) {
    test(`${what} is read from the stored message`, () => {
      assert.deepEqual(invocationOf(message(data)), expected);
    });
  }

  test("data that a person attached does not hide Jira's part", () => {
    const parts = [{ data: { colour: 'red' } }, { data: { invocationType: 'ISSUE_ASSIGNMENT', issue } }];
    assert.deepEqual(invocationOf({ messageId: 'm', role: 'ROLE_USER', parts }), {
      type: 'ISSUE_ASSIGNMENT',
      issue: read,
    });
  });

  test("an agent's own message started nothing", () => {
    assert.equal(invocationOf({ ...message(), role: 'ROLE_AGENT' }), undefined);
  });
});

describe('authorization text', () => {
  const tenant = (attributes: Tenant['attributes']): Tenant => ({ id: 'rovo:1', status: 'active', attributes });
  const whole = { siteUrl: 'https://harbor.example/', appId: UUID, environmentId: ENVIRONMENT };
  const links = (text: string) => [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, url]) => url);

  test('links to the settings of this app on the site', () => {
    const settings = `https://harbor.example/jira/settings/personal/apps/${UUID}/${ENVIRONMENT}`;
    assert.deepEqual(links(authorizationText(tenant(whole), { helpUrl: 'https://help.example' })), [settings]);
  });

  test('links to the help page when anything of that address is unknown or unsafe', () => {
    for (const attributes of [
      { ...whole, siteUrl: '' },
      { ...whole, siteUrl: 'javascript:alert(1)' },
      { ...whole, environmentId: '../..' },
      { siteUrl: whole.siteUrl, appId: UUID },
      {},
    ]) {
      const text = authorizationText(tenant(attributes), { helpUrl: 'https://help.example/jira(1)' });
      assert.deepEqual(links(text), ['https://help.example/jira%281%29']);
    }
    assert.deepEqual(links(authorizationText(undefined, { helpUrl: 'https://help.example/' })), [
      'https://help.example/',
    ]);
  });

  test('has no link at all rather than a broken one, and still says what to do', () => {
    for (const helpUrl of ['', 'help', 'ftp://help.example']) {
      const text = authorizationText(tenant({}), { helpUrl });
      assert.deepEqual(links(text), []);
      assert.match(text, /settings/);
    }
    assert.deepEqual(links(authorizationText(undefined)), []);
  });
});

describe('Forge app id', () => {
  for (const text of [UUID, `ari:cloud:ecosystem::app/${UUID}`, ` ARI:cloud:ecosystem::app/${UUID.toUpperCase()} `]) {
    test(`${JSON.stringify(text)} is understood`, () => {
      assert.deepEqual(parseForgeAppId(text), { uuid: UUID, ari: `ari:cloud:ecosystem::app/${UUID}` });
    });
  }
  for (const text of [
    '',
    ' ',
    'app',
    UUID.slice(1),
    `${UUID}/x`,
    `ari:cloud:ecosystem::installation/${UUID}`,
    `x${UUID}`,
  ]) {
    test(`${JSON.stringify(text)} is refused`, () => {
      assert.equal(parseForgeAppId(text), undefined);
    });
  }
});
