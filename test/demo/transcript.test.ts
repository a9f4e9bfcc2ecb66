import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPaint } from '../../simulator/demo/layout.ts';
import { createTranscript, type Transcript } from '../../simulator/demo/transcript.ts';

function written(play: (show: Transcript) => void, coloured = false): readonly string[] {
  const pieces: string[] = [];
  play(createTranscript({ write: (text) => void pieces.push(text), paint: createPaint(coloured), width: 60 }));
  return pieces.join('').split('\n').slice(0, -1);
}

describe('transcript', () => {
  it('lines up who does what, quotes and notes', () => {
    const lines = written((show) => {
      show.does('Alice', 'assigns SHOP-1 to the agent');
      show.does('Agent', 'COMPLETED');
      show.quote('**SHOP-1** Title');
      show.note('Nobody says this.');
      show.claim(true, 'it is true');
    });
    assert.deepEqual(lines, [
      '  Alice    assigns SHOP-1 to the agent',
      '  Agent    COMPLETED',
      '           │ **SHOP-1** Title',
      '           Nobody says this.',
      '  ✓        it is true',
    ]);
  });

  it('shows a claim that does not hold as such, with what was seen', () => {
    assert.deepEqual(
      written((show) => show.claim(false, 'the task is COMPLETED', 'FAILED')),
      ['  ✗ NOT    the task is COMPLETED (FAILED)'],
    );
  });

  it('breaks lines at the same place with and without colours', () => {
    const play = (show: Transcript): void => show.does('Operator', 'started it again on the same database as before');
    const escapes = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
    const coloured = written(play, true).map((line) => line.replace(escapes, ''));
    assert.deepEqual(coloured, written(play));
    assert.ok(written(play).every((line) => line.length <= 60));
    assert.ok(written(play, true).join('').includes('\u001b[36m'));
  });
});
