import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTelemetry } from '../../src/telemetry.ts';

function throwing(): Error {
  const error = new Error('odd');
  for (const name of ['stack', 'cause', 'name', 'code', 'message']) {
    Object.defineProperty(error, name, {
      get: () => {
        throw new Error('a getter that throws');
      },
    });
  }
  return error;
}

const ODD: readonly (readonly [string, unknown])[] = [
  ['an object without a prototype', Object.create(null)],
  ['a message that is an object', Object.assign(new Error('x'), { message: {} })],
  ['getters that throw', throwing()],
  ['a function', () => undefined],
  ['a symbol', Symbol('x')],
  ['null', null],
];

for (const [what, error] of ODD) {
  test(`telemetry: ${what} in place of an error is a line of the log and no second failure`, () => {
    const lines: string[] = [];
    const telemetry = createTelemetry({
      level: 'info',
      destination: { write: (line: string) => void lines.push(line) },
    });
    telemetry.event('error', 'turn.failed', { taskId: 't' }, error);
    assert.equal(lines.length, 1);
    assert.equal(JSON.parse(lines[0] ?? '').event, 'turn.failed');
  });
}
