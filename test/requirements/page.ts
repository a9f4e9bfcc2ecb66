import { type Requirement, sectionOf } from './row.ts';

/** The part of docs/conformance.md that the list makes: from its heading to the next one of the same level. */
export const HEADING = '## Requirements of the specification';

const INTRODUCTION = `What A2A 1.0 (with its corrections up to 1.0.1 and later) says that a server must or should do is
in [test/requirements.ts](../test/requirements.ts), in words of our own. A test that proves one of them names it at the end
of its own name, and \`npm run check\` fails when one is left that no test names and nothing below excuses.
\`npm run docs\` writes this part.`;

const CHAPTERS: readonly (readonly [chapter: string, title: string])[] = [
  ['3', 'Operations'],
  ['4', 'Data model'],
  ['5', 'Bindings in common'],
  ['7', 'Authentication and authorization'],
  ['8', 'Agent card'],
  ['9', 'JSON-RPC'],
  ['10', 'gRPC'],
  ['11', 'HTTP+JSON'],
  ['12', 'Custom bindings'],
  ['13', 'Security'],
  ['14', 'Media type, headers, well-known URI'],
  ['A', 'Migration'],
];

export function requirementsSection(requirements: readonly Requirement[]): string {
  return [
    HEADING,
    INTRODUCTION,
    table(
      ['Section', 'MUST proved', 'SHOULD proved', 'SHOULD not met', 'Not offered', 'Not ours to do'],
      [...CHAPTERS.map(([chapter, title]) => [`${chapter} ${title}`, ...counts(inChapter(requirements, chapter))])],
      ['All', ...counts(requirements)],
    ),
    '### SHOULDs that are not met',
    reasons(requirements, 'notMet'),
    '### Requirements that are met within limits',
    reasons(requirements, 'limits'),
    '### Requirements about what is not offered',
    reasons(requirements, 'notOffered'),
    '### Requirements that somebody else has to meet',
    reasons(requirements, 'elsewhere'),
  ].join('\n\n');
}

/** A page with its part replaced. */
export function withSection(page: string, requirements: readonly Requirement[]): string {
  const start = page.indexOf(`${HEADING}\n`);
  if (start < 0) throw new Error(`the page has no "${HEADING}"`);
  const next = page.indexOf('\n## ', start);
  const rest = next < 0 ? '' : page.slice(next);
  return `${page.slice(0, start)}${requirementsSection(requirements)}\n${rest}`;
}

function inChapter(requirements: readonly Requirement[], chapter: string): readonly Requirement[] {
  return requirements.filter((requirement) => sectionOf(requirement).split('.')[0] === chapter);
}

function counts(requirements: readonly Requirement[]): readonly string[] {
  const proved = requirements.filter(
    ({ notMet, notOffered, elsewhere }) => notMet === undefined && notOffered === undefined && elsewhere === undefined,
  );
  return [
    proved.filter(({ level }) => level === 'must'),
    proved.filter(({ level }) => level === 'should'),
    requirements.filter(({ notMet }) => notMet !== undefined),
    requirements.filter(({ notOffered }) => notOffered !== undefined),
    requirements.filter(({ elsewhere }) => elsewhere !== undefined),
  ].map(({ length }) => String(length));
}

function reasons(requirements: readonly Requirement[], field: 'notMet' | 'limits' | 'notOffered' | 'elsewhere') {
  const rows = requirements.filter((requirement) => requirement[field] !== undefined);
  return table(
    ['Requirement', '', 'What it asks for', field === 'limits' ? 'Within which limits' : 'Why'],
    rows.map((requirement) => [
      requirement.id,
      requirement.level.toUpperCase(),
      requirement.text,
      requirement[field] ?? '',
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[], last?: readonly string[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const all = [...rows, ...(last ? [last] : [])];
  return [line(head), `|${'---|'.repeat(head.length)}`, ...all.map(line)].join('\n');
}
