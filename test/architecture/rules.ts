import { dirname, join, normalize } from 'node:path/posix';
import { type Import, importsOf } from './imports.ts';

/*
 * Who may import whom, and how long a file may be: the one table. A folder is found by its longest row; a folder
 * without a row is a violation, so that nobody adds one without saying where it belongs.
 */
export interface Row {
  /** Folders of this repository besides the row's own. */
  readonly folders: readonly string[];
  readonly packages: readonly string[];
  /** Modules of Node. */
  readonly node: boolean;
  /** Longest file without an excuse, in lines. */
  readonly lines: number;
}

const SERVICE = ['core', 'adapters', 'src'];
const TOOLS = [
  ...[
    '@a2a-js/sdk',
    '@bufbuild/protobuf',
    '@forge/manifest',
    '@grpc/grpc-js',
    'better-sqlite3',
    'fast-check',
    'jose',
    'koa',
    'pino',
  ],
  ...['@opentelemetry/api', '@opentelemetry/context-async-hooks', '@opentelemetry/sdk-trace-base'],
];

function adapter(packages: readonly string[], lines = 250): Row {
  return { folders: ['core'], packages, node: true, lines };
}

export const ROWS: Readonly<Record<string, Row>> = {
  core: { folders: [], packages: [], node: false, lines: 200 },
  // The contract that stores implement is read as one text.
  'core/ports': { folders: ['core'], packages: [], node: false, lines: 400 },
  'adapters/a2a': adapter(['@a2a-js/sdk', '@bufbuild/protobuf', '@grpc/grpc-js', 'koa', 'zod']),
  'adapters/agents': adapter([]),
  'adapters/jira': adapter(['@forge/api', 'p-timeout', 'zod']),
  'adapters/jwks': adapter(['jose']),
  'adapters/push': adapter([]),
  'adapters/rovo': adapter(['@koa/router', 'jose', 'zod']),
  'adapters/sqlite': adapter(['better-sqlite3'], 400),
  'adapters/vault': adapter(['jose']),
  src: {
    folders: ['core', 'adapters'],
    packages: ['@opentelemetry/api', 'koa', '@koa/router', 'pino', 'prom-client', 'uuid', 'zod'],
    node: true,
    lines: 150,
  },
  simulator: { folders: [], packages: ['@koa/router', 'jose', 'koa'], node: true, lines: 250 },
  test: { folders: [...SERVICE, 'simulator'], packages: TOOLS, node: true, lines: 400 },
  bench: {
    folders: [...SERVICE, 'simulator', 'test/support'],
    // The SDK's own server, as its documentation runs it, is a peer that is measured.
    packages: [...TOOLS, 'express', 'kysely'],
    node: true,
    lines: 250,
  },
};

/** The one file that may know more than one adapter. */
const COMPOSITION = 'src/compose.ts';
/** Words of a head comment that excuse a long file. They have to be followed by the reason. */
const EXCUSE = /\bLonger than\b/;
const NAMELESS = /(^|\/)(utils?|helpers?|common|misc|index)(\.ts|\.mjs|\/)/;

/** Path from the root of the repository, with `/`, to text. */
export type Files = ReadonlyMap<string, string>;

export function violations(files: Files, rows: Readonly<Record<string, Row>> = ROWS): readonly string[] {
  return [...files].flatMap(([path, text]) => {
    const folder = rowOf(path, rows);
    const row = rows[folder ?? ''];
    if (folder === undefined || row === undefined)
      return [`${path}: its folder has no row in test/architecture/rules.ts`];
    const imports = importsOf(text);
    return [
      ...imports.flatMap((each) => refused(path, each, { folder, row }, rows)),
      ...adaptersKnown(path, imports),
      ...form(path, text, row),
    ];
  });
}

function refused(
  path: string,
  { specifier }: Import,
  { folder, row }: { folder: string; row: Row },
  rows: Readonly<Record<string, Row>>,
): string[] {
  if (specifier.startsWith('node:')) return row.node ? [] : [`${path}: ${folder} may not import ${specifier}`];
  if (!specifier.startsWith('.')) {
    const name = packageOf(specifier);
    return row.packages.includes(name) ? [] : [`${path}: ${folder} may not import the package ${name}`];
  }
  const target = normalize(join(dirname(path), specifier));
  const own = topOf(folder);
  const allowed = [own, ...row.folders].some((name) => target.startsWith(`${name}/`));
  if (!allowed) return [`${path}: ${folder} may not import ${target}`];
  return rowOf(target, rows) === undefined ? [`${path}: imports ${target}, which has no row`] : [];
}

/** `core/ports` is part of core; an adapter stands alone. */
function topOf(folder: string): string {
  return folder.startsWith('adapters/') ? folder : (folder.split('/')[0] ?? folder);
}

function adaptersKnown(path: string, imports: readonly Import[]): string[] {
  if (!path.startsWith('src/') || path === COMPOSITION) return [];
  const known = new Set(imports.flatMap(({ specifier }) => /\/adapters\/([^/]+)\//.exec(specifier)?.[1] ?? []));
  return known.size > 1
    ? [`${path}: only ${COMPOSITION} may know more than one adapter (${[...known].join(', ')})`]
    : [];
}

function form(path: string, text: string, row: Row): string[] {
  const lines = text.split('\n').length - 1;
  const head = text.slice(0, text.search(/^(export|const|function|interface|class|type)\b/m));
  const found: string[] = [];
  if (lines > row.lines && !EXCUSE.test(head))
    found.push(`${path}: ${lines} lines, at most ${row.lines} without a reason`);
  if (NAMELESS.test(path)) found.push(`${path}: the name says nothing`);
  if (!/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*(\.(test|d))?\.(ts|mjs)$/.test(path)) {
    found.push(`${path}: not kebab-case`);
  }
  return found;
}

function rowOf(path: string, rows: Readonly<Record<string, Row>>): string | undefined {
  return Object.keys(rows)
    .filter((folder) => path.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0];
}

export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Packages that the files import for more than types and whose imported names are used. */
export function packagesInUse(files: Files): ReadonlySet<string> {
  const used = new Set<string>();
  for (const text of files.values()) {
    for (const { specifier, names, clause } of importsOf(text)) {
      const rest = text.replace(clause, '');
      const real = names.some((name) => new RegExp(`(?<![\\w$])${name.replace(/\$/g, '\\$')}(?![\\w$])`).test(rest));
      if (real && !specifier.startsWith('.') && !specifier.startsWith('node:')) used.add(packageOf(specifier));
    }
  }
  return used;
}
