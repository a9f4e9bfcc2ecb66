import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRounds } from '../../core/runtime/rounds.ts';
import { createWakeups } from '../../core/runtime/wakeups.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** Time that stands still, and how many timers wait in it. */
function countedClock() {
  const clock = createManualClock();
  let waiting = 0;
  return {
    advance: clock.advance,
    now: clock.now,
    timer: (ms: number, callback: () => void) => {
      waiting += 1;
      const cancel = clock.timer(ms, () => {
        waiting -= 1;
        callback();
      });
      return () => {
        waiting -= 1;
        cancel();
      };
    },
    waiting: () => waiting,
  };
}

interface Member {
  readonly name: string;
}

const members = (...names: string[]): Member[] => names.map((name) => ({ name }));

describe('rounds', () => {
  it('every member is visited once in each interval, whenever it came', () => {
    const clock = countedClock();
    const visits: string[] = [];
    const rounds = createRounds<Member>(clock, { intervalMs: 1_600, visit: ({ name }) => visits.push(name) });
    rounds.add({ name: 'a' });
    clock.advance(750);
    rounds.add({ name: 'b' });
    clock.advance(849);
    assert.deepEqual(visits, []);
    clock.advance(1);
    assert.deepEqual(visits, ['a']);
    for (const round of [1, 2, 3]) {
      clock.advance(1_600);
      assert.equal(visits.filter((name) => name === 'a').length, 1 + round);
      assert.equal(visits.filter((name) => name === 'b').length, round);
    }
  });

  it('one timer serves all members, and none when there are none', () => {
    const clock = countedClock();
    const rounds = createRounds<Member>(clock, { intervalMs: 1_600, visit: () => {} });
    const [a, b, c, d, nobody] = members('a', 'b', 'c', 'd', 'nobody');
    assert.ok(a && b && c && d && nobody);
    assert.equal(clock.waiting(), 0);
    for (const member of [a, b, c]) rounds.add(member);
    rounds.add(a);
    assert.equal(clock.waiting(), 1);
    clock.advance(5_000);
    assert.equal(clock.waiting(), 1);
    rounds.remove(a);
    rounds.remove(a);
    rounds.remove(nobody);
    rounds.remove(b);
    assert.equal(clock.waiting(), 1);
    rounds.remove(c);
    assert.equal(clock.waiting(), 0);
    rounds.add(d);
    assert.equal(clock.waiting(), 1);
  });

  it('a member may leave while it is visited, and the last one ends the timer', () => {
    const clock = countedClock();
    const visits: string[] = [];
    const rounds = createRounds<Member>(clock, {
      intervalMs: 1_600,
      visit: (member) => {
        visits.push(member.name);
        rounds.remove(member);
      },
    });
    for (const member of members('a', 'b')) rounds.add(member);
    clock.advance(10_000);
    assert.deepEqual(visits, ['a', 'b']);
    assert.equal(clock.waiting(), 0);
  });
});

describe('a listener of wakeups', () => {
  it('is woken by its topic and once in a poll interval, until it stops listening', () => {
    const clock = countedClock();
    const wakeups = createWakeups(clock);
    let woken = 0;
    const listener = { wake: () => (woken += 1) };
    wakeups.listen('a', listener);
    wakeups.notify('b');
    assert.equal(woken, 0);
    wakeups.notify('a');
    wakeups.notifyAll();
    assert.equal(woken, 2);
    clock.advance(1_000);
    assert.equal(woken, 3);
    wakeups.unlisten('a', listener);
    wakeups.notify('a');
    clock.advance(5_000);
    assert.equal(woken, 3);
    assert.equal(clock.waiting(), 0);
  });

  it('has no timer of its own', () => {
    const clock = countedClock();
    const wakeups = createWakeups(clock);
    for (const topic of ['a', 'b', 'c']) wakeups.listen(topic, { wake() {} });
    assert.equal(clock.waiting(), 1);
  });
});
