import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { atlassianProblems, ownProblems } from './manifest-rules.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FILE = join(ROOT, 'manifest.yml');
const TEXT = readFileSync(FILE, 'utf8');
const ROUTES = ['/rovo/a2a', '/rovo/lifecycle', '/rovo/pre-uninstall'];

const folder = mkdtempSync(join(tmpdir(), 'manifest-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let copies = 0;

/** A copy of the manifest with one thing changed. */
function planted(from: string | RegExp, to: string): string {
  const text = TEXT.replace(from, to);
  assert.notEqual(text, TEXT, `nothing to change: ${from}`);
  const file = join(folder, `manifest-${copies++}.yml`);
  writeFileSync(file, text);
  return file;
}

describe('manifest.yml', () => {
  test("manifest: every validation of Atlassian's package passes", async () => {
    assert.deepEqual(await atlassianProblems(FILE), []);
  });

  test('manifest: every rule that the package misses holds', async () => {
    assert.deepEqual(await ownProblems(FILE, ROUTES), []);
  });

  test('manifest: the routes it names are the ones that the service has', () => {
    const found = new Set<string>();
    for (const top of ['adapters', 'src']) {
      for (const name of readdirSync(join(ROOT, top), { recursive: true })) {
        if (!String(name).endsWith('.ts')) continue;
        const text = readFileSync(join(ROOT, top, String(name)), 'utf8');
        for (const [, path = ''] of text.matchAll(/['"`](\/rovo\/[a-z0-9-]+)['"`]/g)) found.add(path);
      }
    }
    assert.deepEqual([...found].sort(), ROUTES);
  });
});

describe('planted faults that the package finds', () => {
  const FAULTS: readonly (readonly [string, string | RegExp, string, RegExp])[] = [
    ['a version without quotes', "version: '1.0'", 'version: 1.0', /version/],
    ['no version', "version: '1.0'", '', /version/],
    ['an endpoint that does not exist', 'endpoint: a2a\n', 'endpoint: nowhere\n', /endpoint/i],
    ['no scope for work items', '- read:jira-work\n', '- read:jira-user\n', /read:jira-work/],
    ['a name of 31 characters', 'name: Briefing agent', `name: ${'x'.repeat(31)}`, /30 char/],
    [
      'a description of 256 characters',
      /description: >-[^\n]*\n[^\n]*\n[^\n]*\n/,
      `description: ${'x'.repeat(256)}\n`,
      /255 char/,
    ],
    ['a product that is none', '- jira\n', '- trello\n', /productContexts|trello/],
    ['a field that does not exist', 'streaming: true', 'streamed: true', /streamed|additional/],
    ['a route that is a text', /route:\n\s+path: \/rovo\/a2a/, 'route: /rovo/a2a', /route.*must be object/],
    ['an app id that is none', 'ari:cloud:ecosystem::app/', 'app-', /app property id.*pattern/],
    ['broken YAML', 'modules:', 'modules: [', /failed to parse/],
  ];
  for (const [name, from, to, message] of FAULTS) {
    test(`manifest: ${name} is found`, async () => {
      assert.match((await atlassianProblems(planted(from, to))).join('\n'), message);
    });
  }
});

describe('planted faults that only our rules find', () => {
  const FAULTS: readonly (readonly [string, string | RegExp, string, RegExp])[] = [
    ['a starter of 86 characters', '- Brief me on this work item', `- ${'x'.repeat(86)}`, /starter is longer/],
    ['a fourth starter', '- Brief me on', '- One more\n        - Brief me on', /more than 3/],
    [
      'a URL that is not https',
      'https://connector.example.com\n\nmodules',
      'http://connector.example.com\n\nmodules',
      /https/,
    ],
    ['a URL with a slash at the end', 'example.com\n\nmodules', 'example.com/\n\nmodules', /https without a slash/],
    [
      'a path that the service does not have',
      'path: /rovo/lifecycle',
      'path: /rovo/installed',
      /routes of the service/,
    ],
    ['storage without a word on end-user data', /\n\s+storage:\n\s+inScopeEUD: true/, '', /end-user data/],
    ['streaming switched off', 'streaming: true', 'streaming: false', /streaming is off/],
    ['push notifications that do not exist', 'pushNotifications: false', 'pushNotifications: true', /push/],
    ['no token of the user', 'enabled: true', 'enabled: false', /token is not handed over/],
    [
      "the app's token on the A2A endpoint",
      'appUserToken:',
      'appSystemToken:\n          enabled: true\n        appUserToken:',
      /own token/,
    ],
    ['a scope that nothing uses', '- read:jira-work', '- read:jira-work\n    - write:jira-work', /scopes/],
    ['a trigger that is gone', '        - avi:forge:upgraded:app\n', '', /upgraded/],
    [
      'no uninstallation hook',
      /\n\s+preUninstall:\n\s+- key: [^\n]*\n\s+endpoint: pre-uninstall\n/,
      '\n',
      /uninstallation/,
    ],
    ['version 0.3', "version: '1.0'", "version: '0.3'", /1\.0/],
  ];
  for (const [name, from, to, message] of FAULTS) {
    test(`manifest: ${name} is found`, async () => {
      assert.match((await ownProblems(planted(from, to), ROUTES)).join('\n'), message);
    });
  }
});
