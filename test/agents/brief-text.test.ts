import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fromNow, listed, plain, quote, spoken } from '../../adapters/agents/brief/text.ts';
import { keysIn } from '../../adapters/agents/brief/work-items.ts';
import { adfToMarkdown } from '../../adapters/jira/adf-to-markdown.ts';
import { liveMarkup } from './live-markup.ts';

describe('quote', () => {
  it('every line is inside the quote', () => assert.equal(quote('a\n\n- b', 100), '> a\n>\n> - b'));

  it('is cut at a line, or inside one when that is all there is', () => {
    assert.equal(quote(`short\n${'x'.repeat(50)}`, 20), '> short\n> xxxxxxxxxxxxxx…');
    assert.equal(quote(`${'y'.repeat(15)}\n${'x'.repeat(50)}`, 20), `> ${'y'.repeat(15)}\n> …`);
  });

  it('an open code block is closed', () => assert.equal(quote('```\na\nbb\nc', 7), '> ```\n> a\n> …\n> ```'));

  it('a code span that is cut keeps its end', () => {
    assert.equal(quote('a ``b `c` <img src=x> dd`` e', 23), '> a ``b `c` <img src=x> d…``');
    assert.equal(quote('`C:\\` and \\`<i>x', 100), '> `C:\\` and \\`\\<i>x');
  });

  it('code from Jira holds nothing live, wherever it is cut', () => {
    for (const start of [
      '\\\\<img src=x>',
      '\\\\[~accountid:x]',
      '\\\\<details open><summary>',
      '`` \\`<img>',
      '|<b>|',
    ]) {
      const text = { type: 'text', text: `${start} ${'y '.repeat(60)}<img>`, marks: [{ type: 'code' }] };
      const markdown = adfToMarkdown({ type: 'doc', content: [{ type: 'paragraph', content: [text] }] });
      for (let chars = 1; chars < markdown.length + 2; chars += 1) {
        assert.deepEqual(liveMarkup(quote(markdown, chars)), [], `${chars} of ${markdown}`);
      }
    }
  });

  it('code blocks in lists and quotes stay there, each line beginning alike', () => {
    assert.equal(
      quote('- ```js\n  <a>\n\n  b\n  ```\n- > ~~~\n  > <c>\n<d>', 100),
      '>\n> - ```js\n>   <a>\n>\n>   b\n>   ```\n>\n> - > ```\n>   > <c>\n>   > ```\n> \\<d>',
    );
  });

  it('what only looks like code is none', () => {
    for (const markdown of [
      'a\n    ```\n<img>',
      '``` a`b\n<img>',
      '```\n``` js\n```\n<img>',
      '> ```\n<img>',
      'a\n2. ```\n<img>',
      '- > ~~~\n\n<img>',
      '```\r<img>\r```\r<img>',
      '`a\n<img>`',
      '[x](``)<img>``',
      '| a | b |\n|---|---|\n| `c|<img>` |',
    ]) {
      assert.deepEqual(liveMarkup(quote(markdown, 100)), [], markdown);
    }
  });

  it('no text, cut anywhere, leaves a tag, a mention or an open span', () => {
    const piece = fc.constantFrom(
      ...[
        '`',
        '``',
        '```',
        '````',
        '~~~',
        '\\',
        '\\\\',
        '<b>',
        '<x y="z">',
        '<!-- ',
        '</b>',
        '<',
        '>',
        '[',
        ']',
        '(',
        ')',
      ],
      ...[
        '[~id]',
        '[@A](~1)',
        '](~',
        '](',
        '[x]: ',
        '|',
        '| - |',
        '|---|',
        '---',
        '\n',
        '\n\n',
        '\r',
        '> ',
        '- ',
        '2. ',
      ],
      ...['    ', '\t', ' ', 'a', '# ', '```js', '``` a`b', '\u2028', '🏮', '&lt;', '"'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 80 }), (pieces, chars) => {
        assert.deepEqual(liveMarkup(quote(pieces.join(''), chars)), []);
        assert.deepEqual(liveMarkup(`> ${plain(pieces.join(''), chars)}`), []);
      }),
      { numRuns: 10_000 },
    );
  });

  it('tags of a fold are defused, also escaped, spaced or in code', () => {
    for (const tag of [
      '</details>',
      '\\</details>',
      '`</details>`',
      '```\n</details>\n```',
      '<DETAILS open>',
      '</ details>',
      '<summary>',
      '< /summary>',
    ]) {
      assert.doesNotMatch(quote(tag, 100), /<\s*\/?\s*(?:details|summary)/i, tag);
    }
  });

  it('html outside code is text, inside code it stays', () => {
    assert.equal(
      quote('a <b> <!-- c --> \\<d>\n```\n<e>\n```\n<f>', 100),
      '> a \\<b> \\<!-- c --> \\<d>\n> ```\n> <e>\n> ```\n> \\<f>',
    );
  });

  it('mentions are plain names', () => assert.equal(quote('[@A B](~1) hi', 100), '> A B hi'));
});

describe('spoken', () => {
  it('leaves the words', () => {
    assert.equal(
      spoken('> **Can** [this](https://x.example) go\\* `out`?\n\n```\ncode?\n```\n- [@A](~1) \\[x\\]'),
      'Can this go* out?\n\nA [x]',
    );
  });

  it('takes linear time on hostile input', () => {
    for (const unit of ['[', '`', '\\', '*', '> ', '[a](', '1. ']) {
      const began = performance.now();
      spoken(unit.repeat(100_000));
      quote(unit.repeat(100_000), 1_000);
      assert.ok(performance.now() - began < 2_000, `slow on ${JSON.stringify(unit)}`);
    }
  });
});

describe('plain', () => {
  it('is one bounded, escaped line', () => {
    assert.equal(plain('# a\n<b>  [@C](~1)'), '\\# a \\<b\\> \\[@C\\](\\~1)');
    assert.equal(plain('abcdef', 3), 'abc…');
    assert.equal(plain('a </details> b'), 'a ‹/details\\> b');
  });
});

describe('keysIn', () => {
  it('finds whole keys, each once, in order', () => {
    assert.deepEqual(keysIn('SHOP-2, (A_B2-10) and SHOP-2/SHOP-1; xSHOP-3 SHOP-4x SHOP-5-6 shop-7 A-8'), [
      'SHOP-2',
      'A_B2-10',
      'SHOP-1',
    ]);
    assert.deepEqual(keysIn('shop-7', true), ['SHOP-7']);
  });
});

describe('words', () => {
  it('lists and days read as sentences do', () => {
    assert.deepEqual([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(listed), ['', 'a', 'a and b', 'a, b and c']);
    assert.deepEqual([0, 1, 2, -1, -3].map(fromNow), ['today', 'in 1 day', 'in 2 days', '1 day ago', '3 days ago']);
  });
});
