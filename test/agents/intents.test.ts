import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { intentsOf } from '../../adapters/agents/brief/intents.ts';

describe('intentsOf', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['what blocks this?', ['blockers']],
    ['Is anything holding it up? Any dependencies?', ['blockers']],
    ["what's the status", ['status']],
    ['Where does SHOP-1 stand?', ['status']],
    ['how is SHOP-1 going', ['status']],
    ['Is SHOP-1 done?', ['status']],
    ['who is on it?', ['who']],
    ['Who owns SHOP-1 and when is it due?', ['who', 'due']],
    ['is it late', ['due']],
    ['what about its subtasks?', ['subtasks']],
    ['what about its sub-tasks?', ['subtasks']],
    ['What was said in the comments?', ['comments']],
    ['what should we do next?', ['next']],
    ['What to do', ['next']],
    ['Summarise SHOP-1', ['summary']],
    ['give me a summary with the blockers', ['blockers', 'summary']],
    ['What is SHOP-1?', ['summary']],
    ['[@Status Blocker Bot](~712020:due) hello', []],
    ['Thanks, looks good', []],
    ['BLOCKS-1', []],
    ['', []],
  ];
  for (const [text, expected] of cases) {
    it(`${JSON.stringify(text)} asks for ${expected.join(' and ') || 'nothing in particular'}`, () => {
      assert.deepEqual(intentsOf(text), expected);
    });
  }
});
