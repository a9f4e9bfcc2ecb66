import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWakeups } from '../../core/runtime/wakeups.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** Whether it has resolved once everything that is due has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);
}

describe('wakeups', () => {
  it('a notice wakes every waiter of its topic and nobody else', async () => {
    const wakeups = createWakeups(createManualClock());
    const [one, two, other] = [wakeups.subscribe('a'), wakeups.subscribe('a'), wakeups.subscribe('b')];
    const waits = [one.wait(1_000), two.wait(1_000), other.wait(1_000)] as const;
    wakeups.notify('a');
    assert.equal(await isSettled(waits[0]), true);
    assert.equal(await isSettled(waits[1]), true);
    assert.equal(await isSettled(waits[2]), false);
    wakeups.notifyAll();
    assert.equal(await isSettled(waits[2]), true);
  });

  it('a notice between subscribing and waiting is not slept through, and counts once', async () => {
    const wakeups = createWakeups(createManualClock());
    const wakeup = wakeups.subscribe('a');
    wakeups.notify('a');
    wakeups.notify('a');
    assert.equal(await isSettled(wakeup.wait(1_000)), true);
    assert.equal(await isSettled(wakeup.wait(1_000)), false);
  });

  it('a notice that woke somebody is used up', async () => {
    const wakeups = createWakeups(createManualClock());
    const wakeup = wakeups.subscribe('a');
    const first = wakeup.wait(1_000);
    wakeups.notify('a');
    await first;
    assert.equal(await isSettled(wakeup.wait(1_000)), false);
  });

  it('a notice of all topics is no notice of this one', async () => {
    const wakeups = createWakeups(createManualClock());
    const wakeup = wakeups.subscribe('a');
    wakeups.notifyAll();
    assert.equal(await wakeup.wait(1_000), false);
    wakeups.notify('a');
    assert.equal(await wakeup.wait(1_000), true);
    const waiting = wakeup.wait(1_000);
    wakeups.notifyAll();
    assert.equal(await waiting, false);
  });

  it('without a notice the wait ends after its time', async () => {
    const clock = createManualClock();
    const wait = createWakeups(clock).subscribe('a').wait(1_000);
    clock.advance(999);
    assert.equal(await isSettled(wait), false);
    clock.advance(1);
    assert.equal(await isSettled(wait), true);
  });

  it('an abort ends the wait, also one that came before', async () => {
    const wakeup = createWakeups(createManualClock()).subscribe('a');
    const controller = new AbortController();
    const wait = wakeup.wait(1_000, controller.signal);
    assert.equal(await isSettled(wait), false);
    controller.abort();
    assert.equal(await isSettled(wait), true);
    assert.equal(await isSettled(wakeup.wait(1_000, controller.signal)), true);
  });

  it('closing ends the wait and leaves other subscribers alone', async () => {
    const wakeups = createWakeups(createManualClock());
    const [one, two] = [wakeups.subscribe('a'), wakeups.subscribe('a')];
    const waits = [one.wait(1_000), two.wait(1_000)] as const;
    one.close();
    assert.equal(await isSettled(waits[0]), true);
    assert.equal(await isSettled(waits[1]), false);
    wakeups.notify('a');
    assert.equal(await isSettled(waits[1]), true);
  });

  it('a topic that was left and taken up again still wakes', async () => {
    const wakeups = createWakeups(createManualClock());
    const left = wakeups.subscribe('a');
    left.close();
    const wakeup = wakeups.subscribe('a');
    left.close();
    wakeups.notify('a');
    assert.equal(await isSettled(wakeup.wait(1_000)), true);
  });

  it('a wait takes its timer and its listener back', async () => {
    let timers = 0;
    const clock = {
      now: () => 0,
      timer: () => {
        timers += 1;
        return () => {
          timers -= 1;
        };
      },
    };
    const wakeups = createWakeups(clock);
    const wakeup = wakeups.subscribe('a');
    const wait = wakeup.wait(1_000);
    assert.equal(timers, 1);
    wakeups.notify('a');
    await wait;
    assert.equal(timers, 0);
  });
});
