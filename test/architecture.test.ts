import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importsOf } from './architecture/imports.ts';
import { type Files, packageOf, packagesInUse, ROWS, violations } from './architecture/rules.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TOPS = ['core', 'adapters', 'src', 'simulator', 'test', 'bench'];

/** Needed by what the service promises; one that nothing uses is a promise that is not kept. */
const REQUIRED = ['@a2a-js/sdk', '@forge/api', 'jose', 'koa', '@koa/router', 'better-sqlite3', 'p-timeout'];

function repository(): Map<string, string> {
  const files = new Map<string, string>();
  for (const top of TOPS.filter((name) => existsSync(join(ROOT, name)))) {
    for (const name of readdirSync(join(ROOT, top), { recursive: true })) {
      const path = join(top, String(name)).replaceAll('\\', '/');
      if (/\.(ts|mts|mjs|js)$/.test(path)) files.set(path, readFileSync(join(ROOT, path), 'utf8'));
    }
  }
  return files;
}

function only(path: string, text: string): Files {
  return new Map([[path, text]]);
}

function json(path: string): { compilerOptions?: { types?: string[] }; references?: { path: string }[] } {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

describe('this repository', () => {
  const files = repository();

  test('architecture: no file breaks the table', () => {
    assert.ok(files.size > 50, `only ${files.size} files were read`);
    assert.deepEqual(violations(files), []);
  });

  test('architecture: every row has files', () => {
    const empty = Object.keys(ROWS).filter(
      (folder) => ![...files.keys()].some((path) => path.startsWith(`${folder}/`)),
    );
    assert.deepEqual(empty, []);
  });

  test('architecture: an adapter may import only the packages that it does import', () => {
    for (const [folder, { packages }] of Object.entries(ROWS).filter(([name]) => name.startsWith('adapters/'))) {
      const texts = [...files].filter(([path]) => path.startsWith(`${folder}/`)).map(([, text]) => text);
      const unused = packages.filter(
        (name) => !texts.some((text) => importsOf(text).some((each) => packageOf(each.specifier) === name)),
      );
      assert.deepEqual(unused, [], folder);
    }
  });

  test('architecture: the compiler is told the same: core has no ambient types, an adapter references core alone', () => {
    assert.deepEqual(json('core/tsconfig.json').compilerOptions?.types, []);
    assert.deepEqual(json('core/tsconfig.json').references, []);
    assert.deepEqual(json('simulator/tsconfig.json').references, []);
    for (const name of readdirSync(join(ROOT, 'adapters'))) {
      assert.deepEqual(json(`adapters/${name}/tsconfig.json`).references, [{ path: '../../core' }], name);
    }
  });

  test('architecture: every required package is in real use in the shipped code', () => {
    const shipped = new Map([...files].filter(([path]) => /^(core|adapters|src)\//.test(path)));
    const used = packagesInUse(shipped);
    assert.deepEqual(
      REQUIRED.filter((name) => !used.has(name)),
      [],
    );
  });
});

describe('planted violations', () => {
  const PLANTED: readonly (readonly [string, string, string, RegExp])[] = [
    [
      'core imports a module of Node',
      'core/a.ts',
      `import { join } from 'node:path';`,
      /core may not import node:path/,
    ],
    ['core imports a package', 'core/decide/a.ts', `import { z } from 'zod';`, /may not import the package zod/],
    [
      'core imports an adapter',
      'core/a.ts',
      `import { x } from '../adapters/jira/client.ts';`,
      /may not import adapters\/jira/,
    ],
    [
      'core imports a type of src',
      'core/a.ts',
      `import type { Config } from '../src/config.ts';`,
      /may not import src\/config/,
    ],
    ['core re-exports from src', 'core/a.ts', `export { x } from '../src/config.ts';`, /may not import src\/config/],
    ['core imports lazily', 'core/a.ts', `const fs = await import('node:fs');`, /may not import node:fs/],
    ['core imports for a side effect', 'core/a.ts', `import 'node:process';`, /may not import node:process/],
    ['core imports over several lines', 'core/a.ts', `import {\n  a,\n  b,\n} from 'jose';`, /the package jose/],
    [
      'an adapter imports another',
      'adapters/rovo/a.ts',
      `import { x } from '../a2a/edge.ts';`,
      /may not import adapters\/a2a/,
    ],
    ['an adapter imports src', 'adapters/rovo/a.ts', `import { x } from '../../src/config.ts';`, /may not import src/],
    ['an adapter imports a foreign package', 'adapters/jira/a.ts', `import Koa from 'koa';`, /the package koa/],
    [
      'src but not compose knows two adapters',
      'src/main.ts',
      `import { a } from '../adapters/jira/a.ts';\nimport { b } from '../adapters/a2a/b.ts';`,
      /only src\/compose\.ts/,
    ],
    [
      'the simulator imports core',
      'simulator/a.ts',
      `import type { Task } from '../core/task.ts';`,
      /may not import core\/task/,
    ],
    ['a folder has no row', 'adapters/slack/a.ts', `export const a = 1;`, /has no row/],
    ['a name says nothing', 'core/utils.ts', `export const a = 1;`, /says nothing/],
    ['a name is no kebab-case', 'core/sendMessage.ts', `export const a = 1;`, /kebab-case/],
    ['a file is too long', 'core/a.ts', 'export const a = 1;\n'.repeat(201), /201 lines, at most 200/],
  ];
  for (const [name, path, text, message] of PLANTED) {
    test(`architecture: ${name}`, () => {
      const found = violations(only(path, text));
      assert.equal(found.length, 1, JSON.stringify(found));
      assert.match(found[0] ?? '', message);
    });
  }

  test('architecture: allowed imports, comments and a reasoned length pass', () => {
    const compose = `import { a } from '../adapters/jira/a.ts';\nimport { b } from '../adapters/a2a/b.ts';\n`;
    assert.deepEqual(violations(only('src/compose.ts', compose)), []);
    assert.deepEqual(violations(only('core/a.ts', `// import { x } from 'zod';\nconst text = " from 'zod'";\n`)), []);
    const long = `/* Longer than others: one table. */\n${'export const a = 1;\n'.repeat(300)}`;
    assert.deepEqual(violations(only('core/a.ts', long)), []);
    assert.equal(
      violations(only('core/a.ts', `${'export const a = 1;\n'.repeat(300)}// Longer than allowed\n`)).length,
      1,
    );
  });

  test('architecture: a package that is only named, typed or imported unused is not in use', () => {
    const used = (text: string) => [...packagesInUse(only('src/a.ts', text))];
    assert.deepEqual(used(`import type { JWK } from 'jose';\nlet a: JWK;`), []);
    assert.deepEqual(used(`import { type JWK } from 'jose';\nlet a: JWK;`), []);
    assert.deepEqual(used(`import { jwtVerify } from 'jose';\n`), []);
    assert.deepEqual(used(`// import { jwtVerify } from 'jose'; jwtVerify();\n`), []);
    assert.deepEqual(used(`import Router from '@koa/router';\nnew Router();`), ['@koa/router']);
    assert.deepEqual(used(`import { x as y } from '@a2a-js/sdk/server';\ny();`), ['@a2a-js/sdk']);
  });
});
