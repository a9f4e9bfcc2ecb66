import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { adfToMarkdown } from '../../adapters/jira/adf-to-markdown.ts';

type Node = Record<string, unknown>;
const text = (value: string, ...marks: unknown[]): Node => ({
  type: 'text',
  text: value,
  ...(marks.length && { marks }),
});
const of = (type: string, content: unknown[] = [], attrs: Node = {}): Node => ({ type, attrs, content });
const p = (...content: (string | Node)[]): Node =>
  of(
    'paragraph',
    content.map((child) => (typeof child === 'string' ? text(child) : child)),
  );
const doc = (...content: unknown[]): Node => ({ type: 'doc', version: 1, content });
const item = (...content: Node[]): Node => of('listItem', content);
const mark = (type: string, attrs: Node = {}): Node => ({ type, attrs });
const [strong, em, code, strike] = ['strong', 'em', 'code', 'strike'].map((type) => mark(type));
const link = (href: unknown): Node => mark('link', { href });

const cell = (type: string, ...content: Node[]): Node => of(type, content);

describe('adfToMarkdown', () => {
  const cases: readonly (readonly [string, Node, string])[] = [
    ['paragraphs are apart', doc(p('a'), p('b')), 'a\n\nb'],
    ['headings keep their level', doc(of('heading', [text('Steps #')], { level: 2 })), '## Steps \\#'],
    ['a heading without a sound level gets one', doc(of('heading', [text('x')], { level: 'h1' })), '### x'],
    [
      'marks',
      doc(p(text('a', strong), ' ', text('b', em), ' ', text('c', strike), ' ', text('d', code))),
      '**a** *b* ~~c~~ `d`',
    ],
    ['marks that overlap nest', doc(p(text('a', strong), text('b', strong, em), text('c', strong))), '**a*b*c**'],
    ['markers cling to the text', doc(p('x', text(' a ', strong), 'y')), 'x **a** y'],
    [
      'underline and colors are plain',
      doc(p(text('a', mark('underline')), text('b', mark('textColor', { color: '#f00' })))),
      'ab',
    ],
    [
      'one link over two texts',
      doc(p(text('a', link('https://x.example/')), text('b', link('https://x.example/'), strong))),
      '[a**b**](https://x.example/)',
    ],
    [
      'a link after ! is no image',
      doc(p('Stop!', text('a', link('https://x.example/')), '!', of('inlineCard', [], { url: 'https://y.example/' }))),
      'Stop\\![a](https://x.example/)\\![https://y.example/](https://y.example/)',
    ],
    [
      'parentheses in a link are encoded',
      doc(p(text('a', link('https://x.example/(b)?q=<c>')))),
      '[a](https://x.example/%28b%29?q=%3Cc%3E)',
    ],
    [
      'a script link is text',
      doc(
        p(
          text('a', link('javascript:alert(1)')),
          text('b', link(' JAVASCRIPT:x')),
          text('c', link('data:text/html,x')),
        ),
      ),
      'abc',
    ],
    ['a relative link is text', doc(p(text('a', link('/browse/X-1')), text('b', link(5)))), 'ab'],
    ['mail links stay', doc(p(text('a', link('mailto:a@x.example')))), '[a](mailto:a@x.example)'],
    ['code spans outgrow their backticks', doc(p(text('a``b', code), ' ', text('`', code))), '```a``b``` `` ` ``'],
    ['code texts that touch are one span', doc(p(text('a', code), text('`b', code, mark('underline')))), '``a`b``'],
    [
      'bullets nest',
      doc(of('bulletList', [item(p('a'), of('bulletList', [item(p('b'))])), item(p('c'))])),
      '- a\n  - b\n- c',
    ],
    [
      'numbers start where they should',
      doc(of('orderedList', [item(p('a')), item(p('b'), p('c'))], { order: 9 })),
      '9. a\n10. b\n\n    c',
    ],
    [
      'a nested list that starts at 3 needs its blank line',
      doc(of('bulletList', [item(p('a'), of('orderedList', [item(p('b'))], { order: 3 }))])),
      '- a\n\n  3. b',
    ],
    [
      'tasks and nested tasks',
      doc(
        of('taskList', [
          of('taskItem', [text('a')], { state: 'DONE' }),
          of('taskList', [of('taskItem', [text('b')], { state: 'TODO' })]),
        ]),
      ),
      '- [x] a\n  - [ ] b',
    ],
    ['decisions', doc(of('decisionList', [of('decisionItem', [text('a')], { state: 'DECIDED' })])), '- Decision: a'],
    ['quotes', doc(of('blockquote', [p('a'), p('b')])), '> a\n>\n> b'],
    ['panels', doc(of('panel', [p('a')], { panelType: 'warning' })), '> **Warning**\n>\n> a'],
    ['rules', doc(p('a'), of('rule'), p('b')), 'a\n\n---\n\nb'],
    ['code blocks', doc(of('codeBlock', [text('*a*\n<b>')], { language: 'ts' })), '```ts\n*a*\n<b>\n```'],
    [
      'a fence is longer than its content',
      doc(of('codeBlock', [text('```\nx\n```')], { language: '`x`\ny' })),
      '````\n```\nx\n```\n````',
    ],
    [
      'tables',
      doc(
        of('table', [
          of('tableRow', [cell('tableHeader', p('a')), cell('tableHeader', p('b'))]),
          of('tableRow', [
            cell('tableCell', p('1|2'), p('3')),
            cell('tableCell', of('bulletList', [item(p('x')), item(p('y'))])),
          ]),
        ]),
      ),
      '| a | b |\n| --- | --- |\n| 1\\|2 3 | x; y |',
    ],
    [
      'a short head is filled, a short row is left short, wide cells count',
      doc(
        of('table', [
          of('tableRow', [of('tableHeader', [p('a')], { colspan: 2 }), cell('tableHeader', p('b'))]),
          of('tableRow', [cell('tableCell', p(text('c|d', code)))]),
        ]),
      ),
      '| a |  | b |\n| --- | --- | --- |\n| `c\\|d` |',
    ],
    [
      'a mention is the plain name',
      doc(p('Ask ', of('mention', [], { id: '557057:x', text: '@Alice [M]' }))),
      'Ask Alice \\[M\\]',
    ],
    ['a mention without a name is nobody in particular', doc(p(of('mention', [], { id: '557057:x' }))), 'somebody'],
    [
      'emoji',
      doc(p(of('emoji', [], { shortName: ':tada:', text: '🎉' }), of('emoji', [], { shortName: ':x_y:' }))),
      '🎉:x\\_y:',
    ],
    [
      'dates',
      doc(p(of('date', [], { timestamp: '1795132800000' }), of('date', [], { timestamp: 'soon' }))),
      '2026-11-20',
    ],
    ['status', doc(p(of('status', [], { text: 'In progress' }))), '\\[In progress\\]'],
    [
      'cards',
      doc(p(of('inlineCard', [], { url: 'https://x.example/a_b' })), of('blockCard', [], { url: 'ftp://x.example' })),
      '[https://x.example/a\\_b](https://x.example/a_b)\n\nftp://x.example',
    ],
    [
      'media',
      doc(
        of('mediaSingle', [of('media', [], { alt: 'plan.png' }), of('caption', [text('The plan')])]),
        of('mediaGroup', [of('media')]),
      ),
      '(attachment: plan.png)\n\nThe plan\n\n(attachment)',
    ],
    ['expands', doc(of('expand', [p('b')], { title: 'a' })), '**a**\n\nb'],
    ['hard breaks', doc(p('a', of('hardBreak'), '# b', of('hardBreak'))), 'a\\\n\\# b'],
    ['an unknown block gives its children', doc(of('futureWidget', [p('a'), of('layoutColumn', [p('b')])])), 'a\n\nb'],
    ['an unknown inline node gives its children', doc(p('a', of('futureInline', [text('b', strong)]), 'c')), 'a**b**c'],
    [
      'markup that was typed shows as typed',
      doc(p('**a** <script>x</script> [b](https://x) `c`')),
      '\\*\\*a\\*\\* \\<script\\>x\\</script\\> \\[b\\](https://x) \\`c\\`',
    ],
    [
      'a mention that was typed is not live',
      doc(p('[@Alice](~557057:x)'), of('codeBlock', [text('[@Alice](~557057:x)')])),
      '\\[@Alice\\](\\~557057:x)\n\n```\nAlice\n```',
    ],
    [
      'a block start split over two texts is text',
      doc(p(text('1', strong)), p('1', text('. a', mark('underline'))), p('   - b')),
      '**1**\n\n1\\. a\n\n\\- b',
    ],
  ];
  for (const [name, given, expected] of cases) {
    it(name, () => assert.equal(adfToMarkdown(given), expected));
  }

  it('nothing gives nothing', () => {
    for (const nothing of [null, undefined, '', 'text', 5, [], {}, { type: 5 }, doc(), { type: 'doc', content: 'x' }]) {
      assert.equal(adfToMarkdown(nothing), '');
    }
  });

  it('names of Object.prototype are unknown nodes', () => {
    assert.equal(
      adfToMarkdown(doc(of('constructor', [p('a')]), of('__proto__', [p('b')]), p(of('toString', [text('c')])))),
      'a\n\nb\n\nc',
    );
  });

  it('deep nesting ends in a mark', () => {
    let node: Node = p('bottom');
    for (let depth = 0; depth < 5_000; depth += 1) node = of(depth % 2 ? 'blockquote' : 'futureWidget', [node]);
    const markdown = adfToMarkdown(doc(node));
    assert.match(markdown, /…$/);
    assert.doesNotMatch(markdown, /bottom/);
  });

  it('long and wide documents are bounded', () => {
    assert.ok(adfToMarkdown(doc(p('x'.repeat(500_000)))).length < 61_000);
    assert.ok(adfToMarkdown(doc(...Array.from({ length: 50_000 }, () => p('x')))).length < 61_000);
    assert.match(adfToMarkdown(doc(p('x'.repeat(500_000)))), /…$/);
  });

  it('a pipe in code never ends its cell, however many backslashes stand before it', () => {
    for (const slashes of ['', '\\', '\\\\', '\\\\\\']) {
      const row = of('tableRow', [cell('tableCell', p(text(`a${slashes}|b`, code))), cell('tableCell', p('c'))]);
      const [line = ''] = adfToMarkdown(doc(of('table', [row]))).split('\n');
      assert.equal(line.replace(/\\[\s\S]/g, '').split('|').length, 4, line);
    }
  });

  it('as many nodes as a document may have take no long time, whatever they are', () => {
    const url = `https://x.example/${'\u4e2d'.repeat(60)}`;
    const hostile: readonly Node[] = [
      p(...Array.from({ length: 19_000 }, () => of('inlineCard', [], { url }))),
      p(...Array.from({ length: 19_000 }, (_, at) => text('a', ...(at % 2 ? [link(url)] : [])))),
      p(...Array.from({ length: 19_000 }, (_, at) => (at % 2 ? text('a', code) : of('hardBreak')))),
      of(
        'tableCell',
        Array.from({ length: 19_000 }, (_, at) => (at % 2 ? of('inlineCard', [], { url }) : p('a'))),
      ),
      of('bulletList', [item(...Array.from({ length: 9_000 }, () => of('blockCard', [], { url })))]),
    ];
    for (const node of hostile) {
      const began = process.cpuUsage();
      assert.ok(adfToMarkdown(doc(node)).length > 19_000);
      const { user, system } = process.cpuUsage(began);
      // Half a second at most; to copy the text so far for each node took minutes.
      assert.ok((user + system) / 1e6 < 10, `${(user + system) / 1e6} s for ${String(node.type)}`);
    }
  });

  it('one wide row among many rows does not multiply', () => {
    const wide = of(
      'tableRow',
      Array.from({ length: 5_000 }, () => of('tableCell', [], { colspan: 20 })),
    );
    const rows = Array.from({ length: 14_000 }, () => of('tableRow'));
    assert.ok(adfToMarkdown(doc(of('table', [wide, ...rows]))).length < 2_000_000);
    assert.ok(adfToMarkdown(doc(of('table', [...rows, wide]))).length < 2_000_000);
  });

  it('hostile text takes no long time', () => {
    for (const unit of ['*', ' ', '#', '[', '`', '\\', '&', '](~', '\n', '|', ' \n', '\\|']) {
      const value = unit.repeat(30_000);
      const began = performance.now();
      adfToMarkdown(doc(p(text(value, strong)), of('heading', [text(`a${value}b`)]), of('codeBlock', [text(value)])));
      adfToMarkdown(doc(of('table', [of('tableRow', [cell('tableCell', p(`a${value}b`, text(value, code)))])])));
      assert.ok(performance.now() - began < 2_000, `slow on ${JSON.stringify(unit)}`);
    }
  });

  it('no document throws, shows html or a live mention', () => {
    const types = [
      'doc',
      'paragraph',
      'text',
      'heading',
      'bulletList',
      'orderedList',
      'listItem',
      'taskList',
      'taskItem',
      'table',
      'tableRow',
      'tableCell',
      'codeBlock',
      'panel',
      'expand',
      'mention',
      'date',
      'emoji',
      'inlineCard',
      'media',
      'status',
      'hardBreak',
      'decisionList',
      'blockquote',
      'futureWidget',
      'toString',
    ];
    const words = fc.constantFrom(
      'a',
      '<b>',
      '</details>',
      '[@A](~1)',
      '](~',
      '1. ',
      '# ',
      '```',
      '|',
      '\n',
      '\\',
      '**',
      '&lt;',
    );
    const attrs = fc.oneof(
      fc.anything(),
      fc.dictionary(
        fc.constantFrom(
          'level',
          'order',
          'text',
          'url',
          'href',
          'timestamp',
          'state',
          'alt',
          'colspan',
          'title',
          'panelType',
          'language',
          'data',
        ),
        fc.oneof(words, fc.integer(), fc.anything()),
      ),
    );
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'medium' },
        fc.record(
          {
            type: fc.constant('text'),
            text: fc.array(words).map((all) => all.join('')),
            marks: fc.oneof(
              fc.anything(),
              fc.array(fc.record({ type: fc.constantFrom('strong', 'em', 'code', 'link', 'strike'), attrs })),
            ),
          },
          { requiredKeys: ['type', 'text'] },
        ),
        fc.record(
          { type: fc.constantFrom(...types), attrs, content: fc.array(tie('node')) },
          { requiredKeys: ['type'] },
        ),
        fc.anything(),
      ),
    }));
    fc.assert(
      fc.property(node, (given) => {
        const markdown = adfToMarkdown({ type: 'doc', content: [given] });
        const prose = markdown.replace(/\\[\s\S]|(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, 'x');
        assert.doesNotMatch(prose, /<[a-z/]/i);
        assert.doesNotMatch(markdown.replace(/\\[\s\S]/g, 'x'), /\]\(\s*<?~/);
      }),
      { numRuns: 2_000 },
    );
  });
});
