import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clip, escapeInline, escapeMarkdown, withoutLiveMentions } from '../../core/markdown.ts';

describe('withoutLiveMentions', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['a mention becomes the plain name', 'Ask [@Alice Moreau](~557057:a-1) now', 'Ask Alice Moreau now'],
    ['several on a line all go', '[@A](~1), [@B](~2)', 'A, B'],
    ['a mention without @ goes too', '[Alice](~1)', 'Alice'],
    ['an escaped bracket in the name stays escaped', '[@A\\]B](~1)', 'A\\]B'],
    ['a target in angle brackets counts', '[@A](<~1>)', 'A'],
    ['a target with an escaped tilde counts', '[@A](\\~1)', 'A'],
    ['a target with a character reference counts', '[@A](&#126;1) [@B](&#x7E;1)', 'A B'],
    ['a target on the next line counts', '[@A](\n~1)', 'A'],
    ['ordinary links stay', '[docs](https://x.example/~alice)', '[docs](https://x.example/~alice)'],
    ['text that is already escaped stays', '\\[@A\\](\\~1)', '\\[@A\\](\\~1)'],
    ['an escaped backslash before it does not save it', '\\\\[@A](~1)', '\\\\A'],
    ['code spans stay balanced', '`[a` b `](~c` <d>)', '`[a` b `]\\(~c` <d>)'],
    ['nested brackets lose their link', '[@A[b]c](~1)', '[@A[b]c]\\(~1)'],
    ['a mention around a mention loses its link', '[@A [@B](~1)](~2)', '[@A B]\\(~2)'],
    ['a reference definition is none any more', '[@A][1]\n\n[1]: ~557057:x', '[@A][1]\n\n[1]\\: ~557057:x'],
    ['an escaped backslash does not save the wiki spelling', '\\\\[~accountid:x]', '\\\\\\[~accountid:x]'],
    ['the wiki spelling that is escaped stays', '\\[~accountid:x]', '\\[~accountid:x]'],
    ['a target on the next line of a quote counts', '> [@A](\n> ~1)', '> A'],
    ['the wiki spelling is text', 'cc [~accountid:557057:x]', 'cc \\[~accountid:557057:x]'],
  ];
  for (const [name, given, expected] of cases) {
    it(name, () => assert.equal(withoutLiveMentions(given), expected));
  }

  it('no order of brackets leaves a live mention', () => {
    const piece = fc.constantFrom(
      '[',
      ']',
      '(',
      ')',
      '~',
      '@',
      '\\',
      'A',
      ' ',
      '\n',
      '<',
      '&#126;',
      ':',
      '>',
      '\\\\',
      '[~id]',
      '](~',
      '[@B](~1)',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const escapesGone = withoutLiveMentions(pieces.join('')).replace(/\\[\s\S]/g, 'x');
        assert.doesNotMatch(escapesGone, /\]\([\s>]*<?(?:~|&#126;)|\]:[\s>]*<?~/);
        assert.doesNotMatch(withoutLiveMentions(pieces.join('')), /(?<!\\)(?:\\\\)*\[~[^\]\s]{1,256}\]/);
      }),
      { numRuns: 5_000 },
    );
  });

  it('takes linear time on hostile input', () => {
    for (const unit of ['[', '](~', '\\', '[@a', '[](~', ']:  ', '](> ', '[\\]', '\\[', '[\\a']) {
      const began = performance.now();
      withoutLiveMentions(unit.repeat(100_000));
      assert.ok(performance.now() - began < 2_000, `slow on ${JSON.stringify(unit)}`);
    }
  });
});

describe('escapeMarkdown', () => {
  it('markup, html and references show as typed', () => {
    assert.equal(
      escapeInline('*a* _b_ `c` [d](e) <b> | ~f~ \\ &lt; A&B'),
      '\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\<b\\> \\| \\~f\\~ \\\\ \\&lt; A&B',
    );
  });

  it('a line cannot start a block', () => {
    assert.deepEqual(['# a', '- a', '+ a', '1. a', '12) a', '=== ', '    code', '2026-11-20'].map(escapeMarkdown), [
      '\\# a',
      '\\- a',
      '\\+ a',
      '1\\. a',
      '12\\) a',
      '\\=== ',
      'code',
      '2026-11-20',
    ]);
  });

  it('line breaks become spaces', () => assert.equal(escapeMarkdown('a\r\n# b\nc'), 'a # b c'));
});

describe('clip', () => {
  it('marks what it cut and leaves the rest alone', () => {
    assert.equal(clip('abcdef', 3), 'abc…');
    assert.equal(clip('abc', 3), 'abc');
  });

  it('never cuts inside a surrogate pair', () => assert.equal(clip('ab🏮cd', 3), 'ab…'));
});
