import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ENDPOINT_LIMITS } from '../adapters/a2a/endpoint-limits.ts';
import { ERROR_TABLE, PROTOCOL_ERRORS } from '../adapters/a2a/error-table.ts';
import { LIMITS, LOAD_LIMITS } from '../core/limits.ts';
import { CONFIG_KEYS, keyNotes } from '../src/config-schema.ts';
import { configurationPage, environmentExample } from '../src/configuration-pages.ts';
import { METRICS } from '../src/metrics.ts';
import { SPANS } from '../src/spans.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Files that a page has its reader write. */
const READERS_OWN = ['my-agent.mjs', 'client.mjs'];

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function pages(): readonly string[] {
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true }).map((name) => join('docs', String(name)));
  return [...top, 'bench/README.md', ...docs.filter((name) => name.endsWith('.md'))];
}

/** Ids of the headings of a page, as GitHub makes them. */
function anchors(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('README', () => {
  test('README: opens with the two commands, under the title, before anything else', () => {
    assert.match(read('README.md'), /^# [^\n]+\n\n```sh\nnpm ci && npm run demo\nnpm ci && npm test\n```\n\n[A-Z]/);
  });

  test('README: the commands that it and the other pages name exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const page of [...pages(), '.ci/run', 'Dockerfile']) {
      for (const [, name = ''] of read(page).matchAll(/\bnpm run ([a-z:-]*[a-z])/g)) {
        assert.ok(name in scripts, `${page}: npm run ${name}`);
      }
    }
  });
});

describe('links', () => {
  for (const page of pages()) {
    test(`links: those of ${page} lead somewhere`, () => {
      const text = read(page).replace(/```[\s\S]*?```|`[^`]*`/g, '');
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? join(ROOT, page) : resolve(ROOT, dirname(page), path);
        assert.ok(existsSync(file), `${target} does not exist`);
        assert.ok(!relative(ROOT, file).startsWith('..'), `${target} leads out of the repository`);
        if (anchor) assert.ok(anchors(readFileSync(file, 'utf8')).includes(anchor), `${target} has no such heading`);
      }
    });
  }
});

describe('files', () => {
  test('files: those that the pages name exist', () => {
    const sources = ['core', 'adapters', 'src', 'test', 'simulator', 'bench'].flatMap((top) =>
      readdirSync(join(ROOT, top), { recursive: true }).map((name) => join(top, String(name)).replaceAll('\\', '/')),
    );
    for (const page of pages()) {
      for (const [, name = ''] of read(page).matchAll(/`((?:[a-z0-9-]+\/)*[a-z0-9-]+\.(?:ts|mjs))`/g)) {
        if (READERS_OWN.includes(name)) continue;
        const found = sources.some((source) => source === name || source.endsWith(`/${name}`));
        assert.ok(found, `${page}: ${name}`);
      }
      for (const [, name = ''] of read(page).matchAll(/`((?:core|adapters|src|test|simulator)\/[a-z0-9/-]*)`/g)) {
        assert.ok(existsSync(join(ROOT, name)), `${page}: ${name}`);
      }
    }
  });
});

describe('configuration', () => {
  test('configuration: the page and the example are what the schema says', () => {
    assert.equal(read('docs/configuration.md'), configurationPage());
    assert.equal(read('.env.example'), environmentExample());
  });

  test('configuration: every variable that a page or a file of the project names exists', () => {
    const others = ['REMOTE_BASE_URL', 'NODE_ENV'];
    const shape =
      /\b(?:A2A|ROVO|FORGE|OPS|AGENT|LEASE|DRAIN|PARKED|RETENTION|CREDENTIALS|DATABASE|PUBLIC|HELP|MAX|LOG)_[A-Z0-9_]*[A-Z0-9]\b/g;
    for (const file of [...pages(), 'Dockerfile', '.env.example', 'manifest.yml']) {
      for (const [name] of read(file).matchAll(shape)) {
        assert.ok(name in CONFIG_KEYS || others.includes(name) || name in ERRORS, `${file}: ${name}`);
      }
    }
  });

  test('configuration: every variable is in the example, commented out, with its default', () => {
    for (const key of Object.keys(CONFIG_KEYS)) assert.match(environmentExample(), new RegExp(`^#${key}=`, 'm'));
    assert.doesNotMatch(environmentExample(), /^[A-Z]/m);
  });
});

interface ErrorNumbers {
  readonly jsonRpc: number;
  readonly http: number;
  readonly grpc: string;
  readonly reason: string;
}
const ERRORS: Readonly<Record<string, ErrorNumbers>> = ERROR_TABLE;

describe('tables', () => {
  test('errors: the page has every code with its numbers and reason', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (-\d+) \| (\d+) \| (\w+) \| `(\w+)` \| \S/gm)];
    const shown = rows.map(([, code, rpc, http, grpc, reason]) => [code, Number(rpc), Number(http), grpc, reason]);
    const real = Object.entries(ERRORS).map(([code, row]) => [code, row.jsonRpc, row.http, row.grpc, row.reason]);
    assert.deepEqual(shown.sort(), real.sort());
  });

  test('errors: the page has every fault of a request with its numbers', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (-\d+) \| (\d+) \| (\w+) \| [^`\s|]/gm)];
    const shown = rows.map(([, fault, rpc, http, grpc]) => [fault, Number(rpc), Number(http), grpc]);
    const real = Object.entries(PROTOCOL_ERRORS).map(([fault, row]) => [fault, row.jsonRpc, row.http, row.grpc]);
    assert.deepEqual(shown, real);
  });

  test('operations: the page has every metric with its labels and help text', () => {
    const rows = [...read('docs/operations.md').matchAll(/^\| `(a2a_\w+)` \| ([^|]*) \| ([^|]*) \|$/gm)];
    const shown = rows.map(([, name, labels, help]) => [name, labels?.trim(), help?.trim()]);
    const real = Object.entries(METRICS).map(([name, { labels, help }]) => [name, labels.join(', ') || '–', help]);
    assert.deepEqual(shown, real);
  });
});

describe('conformance', () => {
  const [, part = ''] = read('docs/conformance.md').split('\n## What the specification leaves to a server\n');
  const [decisions = ''] = part.split('\n## ');
  const decided = (title: string) => decisions.split(`\n### ${title}\n`)[1]?.split('\n### ')[0] ?? '';

  test('conformance: the page says who may see what [13.1-documented]', () => {
    for (const words of [/`A2A_TENANT_CLAIM`/, /no roles/, /does not exist/]) {
      assert.match(decided('Who may see what'), words);
    }
  });

  test('conformance: the page says who gets which agent card [13.3-documented]', () => {
    for (const words of [/everybody/, /callers with a JWT/, /`A2A_AUTH=anonymous`/]) {
      assert.match(decided('The two agent cards'), words);
    }
  });

  test('conformance: the page says how long a context is kept [3.4.1-documented]', () => {
    for (const words of [/`RETENTION_MS`/, /`PARKED_MAX_MS`/]) assert.match(decided('Contexts'), words);
  });

  test('conformance: the page says what an authorization within a task means [7.6.4-defined]', () => {
    for (const words of [/permits nothing by itself/, /until it ends/, /never comes in a message/]) {
      assert.match(decided('Authorization within a task'), words);
    }
  });
});

describe('limits', () => {
  test('operations: the page has every bound on load with its setting and the default of that', () => {
    const rows = [...read('docs/operations.md').matchAll(/^\| `([a-z-]+)` \| (`[A-Z_]+`|fixed) \| ([^|]+) \|/gm)];
    assert.deepEqual(
      rows.map(([, limit]) => limit),
      Object.keys(LOAD_LIMITS),
    );
    for (const [, limit, setting = '', fallback] of rows) {
      if (setting === 'fixed') continue;
      const schema = CONFIG_KEYS[setting.replaceAll('`', '') as keyof typeof CONFIG_KEYS];
      assert.equal(fallback, keyNotes.get(schema)?.fallback, limit);
    }
  });

  test('operations: the bounds that no setting moves are the ones that hold', () => {
    const page = read('docs/operations.md');
    const said = (limit: number, text: string) => {
      assert.equal(Number(/[\d,]+/.exec(text)?.[0].replaceAll(',', '')), limit, text);
      assert.ok(page.includes(text), text);
    };
    said(LIMITS.inboxMax, '100 messages, 8 MB');
    said(LIMITS.historyBytes / 1e6, '32 MB, 10,000 messages');
    said(LIMITS.historyMax, '10,000 messages |');
    said(LIMITS.eventsMax, '100,000 | the turn that would commit more');
    said(LIMITS.claimMax, '64 turns, 8 MB of messages');
    said(LIMITS.idBytes, '256 bytes');
    said(LIMITS.frameChars, '60,000 characters');
    said(LIMITS.pushConfigsMax, '20 |');
    said(LIMITS.listMax, '100 tasks, 2 MB');
    said(ENDPOINT_LIMITS.drainMs / 1_000, '30 s | it is cut');
    said(ENDPOINT_LIMITS.bodyTimeoutMs / 1_000, '30 s | 408');
    said(ENDPOINT_LIMITS.lingerMs / 1_000, '2 s also for a reader');
  });
});

describe('spans', () => {
  test('operations: the page has every span with its attributes and help text', () => {
    const [, table = ''] = read('docs/operations.md').split('| Span | Attributes | What it is |\n|---|---|---|\n');
    const [rows = ''] = table.split('\n\n');
    const shown = rows.split('\n').map((row) =>
      row
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
    const real = Object.entries(SPANS).map(([name, { attributes, help }]) => [
      `\`${name}\``,
      attributes.join(', '),
      help,
    ]);
    assert.deepEqual(shown, real);
  });
});

describe('package', () => {
  test('package: every file that a script runs has a source', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const files = Object.entries(scripts).flatMap(([name, script]) =>
      [...script.matchAll(/\bnode (?:-\S+ )*(\S+\.m?js)\b/g)].map(([, file = '']) => [name, file] as const),
    );
    assert.ok(files.length > 8, 'the scripts were read');
    for (const [name, file] of files) {
      const source = file.replace(/^dist\/(.*)\.js$/, '$1.ts');
      assert.ok(existsSync(join(ROOT, source)), `npm run ${name}: ${file} is made of nothing`);
    }
  });

  test('package: what it exports and ships exists after a build', () => {
    const { exports, files } = JSON.parse(read('package.json')) as {
      exports: Record<string, Record<string, string>>;
      files: string[];
    };
    for (const file of [...Object.values(exports).flatMap((each) => Object.values(each)), ...files]) {
      assert.ok(existsSync(join(ROOT, file)), file);
    }
  });
});
