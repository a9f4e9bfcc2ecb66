import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clip, columns, createPaint, excerpt, wantsColour, wrap } from '../../simulator/demo/layout.ts';

describe('layout of the transcript', () => {
  it('clip: cuts to the given length, ellipsis included', () => {
    assert.equal(clip('four', 4), 'four');
    assert.equal(clip('fives', 4), 'fiv…');
  });

  it('clip: does not cut a surrogate pair in two', () => {
    assert.equal(clip('ab🏮cd', 4), 'ab…');
  });

  it('clip: lets no escape sequence or line separator through', () => {
    assert.equal(clip('a\u001b[31mb\u2028c\u0085d\r\ne', 40), 'a [31mb c d e');
  });

  it('wrap: breaks at spaces and keeps a word that is longer than a line whole', () => {
    const url = `https://lantern.example/${'x'.repeat(30)}`;
    assert.deepEqual(wrap(`one two three four five ${url} six`, 20), ['one two three four', 'five', url, 'six']);
  });

  it('wrap: keeps runs of spaces, which line things up', () => {
    assert.deepEqual(wrap('WORKING  Reading', 20), ['WORKING  Reading']);
  });

  it('columns: puts the label in front of the first line only', () => {
    assert.deepEqual(columns('Bob', 'a text that needs two lines', { indent: 2, column: 5, width: 27 }), [
      '  Bob  a text that needs',
      '       two lines',
    ]);
  });

  it('excerpt: closes folds, leaves out blank lines and counts the rest', () => {
    const markdown = '**A-1** Title\n\n<details><summary>More</summary>\n\nfolded\n\n</details>\n\none\n\ntwo\n';
    assert.deepEqual(excerpt(markdown, 40, 3), ['**A-1** Title', '▸ More', 'one', '… 1 more line']);
    assert.deepEqual(excerpt(markdown, 40, 4), ['**A-1** Title', '▸ More', 'one', 'two']);
    assert.deepEqual(excerpt('', 40, 4), []);
  });

  it('colours are for a terminal, and not with NO_COLOR', () => {
    assert.equal(wantsColour(true, {}), true);
    assert.equal(wantsColour(true, { NO_COLOR: '' }), true);
    assert.equal(wantsColour(true, { NO_COLOR: '1' }), false);
    assert.equal(wantsColour(true, { TERM: 'dumb' }), false);
    assert.equal(wantsColour(false, {}), false);
    assert.equal(createPaint(false)('red', 'x'), 'x');
    assert.equal(createPaint(true)('red', 'x'), '\u001b[31mx\u001b[39m');
  });
});
