import { clip, columns, excerpt, type Paint, type Style } from './layout.ts';

/** Who does what, as a reader follows it. */
export interface Transcript {
  /** A headline over a part of the day. */
  scene(title: string): void;
  /** What somebody does. The name stands in a column of its own. */
  does(who: string, what: string): void;
  /** The beginning of what the agent wrote. */
  quote(markdown: string, lines?: number): void;
  /** What a reader should know and nobody in the play says. */
  note(text: string): void;
  /** What was claimed, and when it does not hold, what was seen instead. */
  claim(holds: boolean, text: string, seen?: string): void;
  /** A row of a table: cut at the edge, or left to a terminal that is too narrow for it. */
  line(text: string, style?: Style): void;
}

const INDENT = 2;
const COLUMN = 9;
const QUOTED_LINES = 5;
const WIDEST = 120;
const NARROWEST = 60;
const TABLE_WIDTH = 100;

export interface TranscriptOptions {
  write(text: string): void;
  readonly paint: Paint;
  /** Columns of the terminal; 120 when there is none. */
  readonly width?: number | undefined;
}

export function createTranscript({ write, paint, width = WIDEST }: TranscriptOptions): Transcript {
  const edge = Math.max(NARROWEST, Math.min(width, WIDEST));
  const size = { indent: INDENT, column: COLUMN, width: edge };
  const left = ' '.repeat(INDENT + COLUMN);
  const print = (lines: readonly string[], style?: Style): void => {
    for (const line of lines) write(`${style ? paint(style, line) : line}\n`);
  };
  /** Layout first, then colour: an escape sequence has no width. */
  const labelled = (label: string, text: string, style: Style): void => {
    const [first = '', ...more] = columns(label, text, size);
    write(`${' '.repeat(INDENT)}${paint(style, label.padEnd(COLUMN))}${first.slice(INDENT + COLUMN)}\n`);
    print(more);
  };

  return {
    scene(title) {
      write('\n');
      print([title], 'bold');
      write('\n');
    },
    does: (who, what) => labelled(who, what, who === 'Agent' ? 'green' : 'cyan'),
    quote: (markdown, lines = QUOTED_LINES) =>
      print(
        excerpt(markdown, edge - left.length - 2, lines).map((line) => `${left}│ ${line}`),
        'dim',
      ),
    note: (text) => print(columns('', text, size), 'dim'),
    claim(holds, text, seen) {
      if (holds) labelled('✓', text, 'green');
      else labelled('✗ NOT', seen === undefined ? text : `${text} (${seen})`, 'red');
    },
    line: (text, style) => print([edge < TABLE_WIDTH ? text : clip(text, edge)], style),
  };
}
