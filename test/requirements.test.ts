import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { citationsBelow, citationsIn } from './requirements/citations.ts';
import { faultsOf } from './requirements/faults.ts';
import { withSection } from './requirements/page.ts';
import { must, type Requirement, sectionOf, should } from './requirements/row.ts';
import { REQUIREMENTS } from './requirements.ts';

/** The compiled tests are two folders below the root. */
const ROOT = new URL('../../', import.meta.url);
const CITATIONS = citationsBelow(fileURLToPath(new URL('test', ROOT)));

test('requirements: every one is proved by a test that names it, or excused by a reason', () => {
  assert.ok(REQUIREMENTS.length > 200, `${REQUIREMENTS.length} requirements`);
  assert.deepEqual(faultsOf(REQUIREMENTS, CITATIONS), []);
});

test('requirements: the page of conformance says what the list says (npm run docs)', () => {
  const page = readFileSync(new URL('docs/conformance.md', ROOT), 'utf8');
  assert.equal(page, withSection(page, REQUIREMENTS));
});

const LIST: readonly Requirement[] = [must('3.1-a', 'A.'), should('3.1-b', 'B.'), should('A.2-c', 'C.')];
const PROOF = `test('x [3.1-a]', () => {});\n  it(\`y \${z} [3.1-b, A.2-c]\`, async (t) => {});`;

function faults(source: string, list: readonly Requirement[] = LIST) {
  return faultsOf(list, citationsIn('x.test.ts', source));
}

test('requirements: a list that its tests prove has no faults', () => {
  assert.deepEqual(faults(PROOF), []);
  assert.deepEqual(
    citationsIn('x.test.ts', PROOF).map(({ ids }) => ids),
    [['3.1-a'], ['3.1-b', 'A.2-c']],
  );
  assert.equal(sectionOf({ id: '3.1.4-page-size' }), '3.1.4');
});

const PLANTED: readonly (readonly [string, string, readonly Requirement[], RegExp])[] = [
  ['a MUST that no test cites', PROOF.replace(' [3.1-a]', ''), LIST, /^3\.1-a is a MUST that no test cites$/],
  ['a SHOULD that no test cites', PROOF.replace('3.1-b, ', ''), LIST, /^3\.1-b is a SHOULD that no test cites$/],
  ['an id that does not exist', PROOF.replace('3.1-b', '3.1-b, 3.1-d'), LIST, /cites 3\.1-d, which does not exist/],
  ['an id that is there twice', PROOF, [...LIST, must('3.1-a', 'D.')], /^3\.1-a is there twice$/],
  ['an id of another form', `${PROOF}\ntest('x [3-A b]', f);`, [...LIST, must('3-A b', 'D.')], /is no id$/],
  ['a test that is skipped', PROOF.replace('test(', 'test.skip('), LIST, /in a test that does not run/],
  ['a plan', PROOF.replace("]', ()", "]', { todo: true }, ()"), LIST, /in a test that does not run/],
  ['a test in a comment', PROOF.replace('test(', '// test('), LIST, /^3\.1-a is a MUST that no test cites$/],
  ['a MUST that is not met', PROOF, [{ ...must('3.2-d', 'D.'), notMet: 'It is so.' }, ...LIST], /not met$/],
  [
    'an excuse for what is proved',
    PROOF,
    [should('3.1-b', 'B.', { notMet: 'It is not.' }), ...LIST],
    /excused all the same/,
  ],
  ['an excuse without words', PROOF, [should('3.2-d', 'D.', { notMet: '' }), ...LIST], /a reason that is no sentence/],
  [
    'two excuses',
    PROOF,
    [should('3.2-d', 'D.', { notMet: 'It is.', elsewhere: 'It is.' }), ...LIST],
    /has two reasons/,
  ],
];
for (const [name, source, list, fault] of PLANTED) {
  test(`requirements: ${name} is found`, () => {
    const found = faults(source, list);
    assert.ok(
      found.some((each) => fault.test(each)),
      found.join('\n') || 'nothing was found',
    );
  });
}

test('requirements: a page that was written by hand is told from one that the list wrote', () => {
  const page = withSection('# A\n\n## Requirements of the specification\n\nBy hand.\n\n## B\n\nkept\n', REQUIREMENTS);
  assert.match(page, /^# A\n\n## Requirements of the specification\n\n[\s\S]*\n\n## B\n\nkept\n$/);
  assert.doesNotMatch(page, /By hand/);
  assert.equal(withSection(page, REQUIREMENTS), page);
});
