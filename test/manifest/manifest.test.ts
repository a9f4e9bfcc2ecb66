import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { atlassianProblems, ownProblems, ROUTES, report } from './manifest-rules.ts';
import { SAMPLE } from './manifest-sample.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FILE = join(ROOT, 'manifest.yml');
const CHECK = fileURLToPath(new URL('./manifest-check.js', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'manifest-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let copies = 0;

function written(text: string): string {
  const file = join(folder, `manifest-${copies++}.yml`);
  writeFileSync(file, text);
  return file;
}

/** The sample with one thing changed: faults are never planted in the shipped file, which is there to be edited. */
function planted(from: string | RegExp, to: string): string {
  const text = SAMPLE.replace(from, to);
  assert.notEqual(text, SAMPLE, `nothing to change: ${from}`);
  return written(text);
}

describe('manifest.yml', () => {
  test("manifest: every validation of Atlassian's package passes", async () => {
    assert.deepEqual(await atlassianProblems(FILE), []);
  });

  test('manifest: every rule that the package misses holds', async () => {
    assert.deepEqual(await ownProblems(FILE), []);
  });

  test('manifest: the sample that faults are planted in has none itself', async () => {
    const file = written(SAMPLE);
    assert.deepEqual([...(await atlassianProblems(file)), ...(await ownProblems(file))], []);
  });

  test('manifest: what a user is told to change may be anything valid', async () => {
    const file = planted(/name: Sample agent[\s\S]*- Third starter/, "name: 'Our: agent'\n      description: Ours.");
    assert.deepEqual([...(await atlassianProblems(file)), ...(await ownProblems(file))], []);
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
    assert.deepEqual([...found].sort(), [...ROUTES].sort());
  });
});

describe('planted faults that the package finds', () => {
  const FAULTS: readonly (readonly [string, string | RegExp, string, RegExp])[] = [
    ['a version without quotes', "version: '1.0'", 'version: 1.0', /version/],
    ['no version', "version: '1.0'", '', /version/],
    ['an endpoint that does not exist', 'endpoint: a2a\n', 'endpoint: nowhere\n', /endpoint/i],
    ['no scope for work items', '- read:jira-work\n', '- read:jira-user\n', /read:jira-work/],
    ['a name of 31 characters', 'name: Sample agent', `name: ${'x'.repeat(31)}`, /30 char/],
    ['a description of 256 characters', /description: [^\n]*\n/, `description: ${'x'.repeat(256)}\n`, /255 char/],
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
    ['a starter of 86 characters', '- First starter', `- ${'x'.repeat(86)}`, /starter is longer/],
    ['a fourth starter', '- First starter', '- One more\n        - First starter', /more than 3/],
    ['a URL that is not https', 'https://connector.example.com', 'http://connector.example.com', /https/],
    ['a URL with a slash at the end', 'example.com\n', 'example.com/\n', /https without a slash/],
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
      assert.match((await ownProblems(planted(from, to))).join('\n'), message);
    });
  }
});

describe('npm run manifest:check', () => {
  test('manifest:check: prints one line for each problem of both kinds, and ends with 1', () => {
    const file = planted('name: Sample agent', `name: ${'x'.repeat(31)}`);
    writeFileSync(file, readFileSync(file, 'utf8').replace('- First starter', `- ${'y'.repeat(86)}`));
    const { status, stdout, stderr } = spawnSync(process.execPath, [CHECK, file], { encoding: 'utf8' });
    assert.equal(stderr, '');
    assert.equal(status, 1);
    assert.match(stdout, /^\S+: [^\n]*30 characters\n\S+: a starter is longer than 85 characters[^\n]*\n$/);
  });

  test("manifest:check: an id that is nobody's is no fault, and is said", async () => {
    assert.deepEqual(await report(written(SAMPLE)), { lines: ['no problem found'], sound: true });
    const { lines, sound } = await report(planted(/app\/[0-9a-f-]{36}/, 'app/00000000-0000-0000-0000-000000000000'));
    assert.equal(sound, true);
    assert.match(lines.join('\n'), /forge register/);
  });

  test('manifest:check: a file that is no manifest, or is not there, is said in a line', async () => {
    for (const file of [written('modules: ['), written('hello'), join(folder, 'nowhere.yml')]) {
      const { lines, sound } = await report(file);
      assert.deepEqual([sound, lines.length], [false, 1], lines.join('\n'));
    }
  });
});
