import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMITS } from '../../core/limits.ts';
import { type Chunk, createChunkBuffer } from '../../core/runtime/chunk-buffer.ts';
import type { Artifact } from '../../core/task.ts';

function chunkOf(text: string, changes: Partial<Chunk> = {}, artifact: Partial<Artifact> = {}): Chunk {
  const whole = { artifactId: 'a', parts: [{ text }], ...artifact };
  return { artifact: whole, append: true, lastChunk: false, ...changes };
}

describe('chunk buffer', () => {
  it('consecutive text of one artifact becomes one chunk with one part', () => {
    const buffer = createChunkBuffer();
    const offered = [chunkOf('a', { append: false }, { name: 'Brief' }), chunkOf('b'), chunkOf(''), chunkOf('c')];
    assert.deepEqual(offered.map(buffer.offer), [true, true, true, true]);
    assert.equal(buffer.waiting(), true);
    assert.deepEqual(buffer.take(), chunkOf('abc', { append: false }, { name: 'Brief' }));
    assert.equal(buffer.waiting(), false);
    assert.equal(buffer.take(), undefined);
  });

  const apart: readonly (readonly [string, Chunk])[] = [
    ['another artifact', chunkOf('b', {}, { artifactId: 'b' })],
    ['a chunk that does not append', chunkOf('b', { append: false })],
    ['the last chunk', chunkOf('b', { lastChunk: true })],
    ['another media type', chunkOf('', {}, { parts: [{ text: 'b', mediaType: 'text/html' }] })],
    ['part metadata', chunkOf('', {}, { parts: [{ text: 'b', metadata: {} }] })],
    ['a filename', chunkOf('', {}, { parts: [{ text: 'b', filename: 'b' }] })],
    ['artifact metadata', chunkOf('b', {}, { metadata: {} })],
    ['artifact extensions', chunkOf('b', {}, { extensions: ['urn:x'] })],
    ['another name', chunkOf('b', {}, { name: 'Renamed' })],
    ['another description', chunkOf('b', {}, { description: 'Changed' })],
    ['two parts', chunkOf('', {}, { parts: [{ text: 'b' }, { text: 'c' }] })],
    ['data', chunkOf('', {}, { parts: [{ data: 'b' }] })],
    ['more text than one commit takes', chunkOf('x'.repeat(LIMITS.mergeChars))],
  ];
  for (const [name, chunk] of apart) {
    it(`${name} does not join the text that waits, which stays as it was`, () => {
      const buffer = createChunkBuffer();
      assert.equal(buffer.offer(chunkOf('a')), true);
      assert.equal(buffer.offer(chunk), false);
      assert.deepEqual(buffer.take(), chunkOf('a'));
    });
  }

  it('a chunk repeats the labels or leaves them out', () => {
    const buffer = createChunkBuffer();
    assert.equal(buffer.offer(chunkOf('a', {}, { name: 'Brief', description: 'd' })), true);
    assert.equal(buffer.offer(chunkOf('b', {}, { name: 'Brief' })), true);
    assert.equal(buffer.offer(chunkOf('c', {}, { description: 'd' })), true);
  });

  it('what cannot be merged does not wait either', () => {
    for (const [name, chunk] of apart.filter(([, each]) => each.artifact.parts.length > 1 || each.lastChunk)) {
      assert.equal(createChunkBuffer().offer(chunk), false, name);
    }
    assert.equal(createChunkBuffer().offer(chunkOf('x'.repeat(LIMITS.mergeChars + 1))), false);
  });

  it('merges up to its limit exactly, and starts anew after each take', () => {
    const buffer = createChunkBuffer();
    const half = 'x'.repeat(LIMITS.mergeChars / 2);
    for (let round = 0; round < 2; round += 1) {
      assert.equal(buffer.offer(chunkOf(half)), true);
      assert.equal(buffer.offer(chunkOf(half)), true);
      assert.equal(buffer.offer(chunkOf('x')), false);
      assert.deepEqual(buffer.take(), chunkOf(half + half));
    }
  });

  it('keeps the media type that its chunks share', () => {
    const buffer = createChunkBuffer();
    const typed = (text: string) => chunkOf('', {}, { parts: [{ text, mediaType: 'text/markdown' }] });
    buffer.offer(typed('a'));
    buffer.offer(typed('b'));
    assert.deepEqual(buffer.take(), typed('ab'));
    buffer.offer(chunkOf('c'));
    assert.deepEqual(buffer.take(), chunkOf('c'));
  });
});
