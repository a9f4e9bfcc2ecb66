import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSpanContextValid } from '@opentelemetry/api';
import { spanContextOf, traceparentOf } from '../../src/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

const UNDERSTOOD: Readonly<Record<string, string>> = {
  [`00-${TRACE}-${SPAN}-01`]: `00-${TRACE}-${SPAN}-01`,
  [`00-${TRACE}-${SPAN}-00`]: `00-${TRACE}-${SPAN}-00`,
  // A later version of the header is read as far as it is known.
  [`cc-${TRACE}-${SPAN}-01`]: `00-${TRACE}-${SPAN}-01`,
  '463ac35c9f6413ad48485a3953bb6124': '00-463ac35c9f6413ad48485a3953bb6124-48485a3953bb6124-01',
  '463AC35C9F6413AD48485A3953BB6124': '00-463ac35c9f6413ad48485a3953bb6124-48485a3953bb6124-01',
  a48485a3953bb612: '00-0000000000000000a48485a3953bb612-a48485a3953bb612-01',
  '463ac35c9f6413ad0000000000000000': '00-463ac35c9f6413ad0000000000000000-463ac35c9f6413ad-01',
};

for (const [text, expected] of Object.entries(UNDERSTOOD)) {
  test(`trace context: ${text} is ${expected}, from elsewhere and valid`, () => {
    const found = spanContextOf(text);
    assert.ok(found && isSpanContextValid(found));
    assert.equal(found.isRemote, true);
    assert.equal(traceparentOf(found), expected);
  });
}

for (const text of [
  undefined,
  '',
  'request-id-missing',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01\n`,
  '0'.repeat(16),
  '0'.repeat(32),
  '463ac35c9f6413ad4848',
  `${TRACE}00`,
]) {
  test(`trace context: ${JSON.stringify(text)} is none`, () => {
    assert.equal(spanContextOf(text), undefined);
  });
}
