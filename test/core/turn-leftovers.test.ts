import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Agent } from '../../core/ports/agent.ts';
import type { Clock } from '../../core/ports/clock.ts';
import { StopSignal } from '../../core/runtime/stopper.ts';
import { createClient } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { until } from '../support/until.ts';

const echo: Agent['run'] = async function* ({ message }) {
  yield { state: 'TASK_STATE_COMPLETED', message: message.messageId };
};

/** Time that stands still, and how many timers wait in it. */
function countedClock(): Clock & { waiting(): number } {
  const { now, timer } = createManualClock();
  const live = new Set<object>();
  return {
    now,
    timer: (ms, callback) => {
      const one = {};
      live.add(one);
      const cancel = timer(ms, () => {
        live.delete(one);
        callback();
      });
      return () => {
        live.delete(one);
        cancel();
      };
    },
    waiting: () => live.size,
  };
}

async function siteOf(t: TestContext, agent: Agent['run']) {
  const clock = countedClock();
  const core = await createCore(t, { agent, clock });
  const client = createClient(core);
  const over = () => until('the turns are over', () => core.runner.running === 0);
  return { clock, client, over };
}

describe('what a turn leaves behind', () => {
  it('no timer, however many there were', async (t) => {
    const { clock, client, over } = await siteOf(t, echo);
    await client.send('first');
    await over();
    const before = clock.waiting();
    for (let n = 0; n < 5; n += 1) await client.send(`message ${n}`);
    await over();
    assert.equal(clock.waiting(), before);
  });

  it('an aborted signal, whether the agent asked for it during the turn or asks for it now', async (t) => {
    const turns: Parameters<Agent['run']>[0][] = [];
    const { client, over } = await siteOf(t, async function* (turn) {
      if (turn.message.messageId === 'early') assert.equal(turn.signal.aborted, false);
      turns.push(turn);
      yield { state: 'TASK_STATE_COMPLETED' };
    });
    for (const messageId of ['early', 'late']) {
      assert.equal((await client.send('hi', { messageId })).status.state, 'TASK_STATE_COMPLETED');
    }
    await over();
    assert.equal(turns.length, 2);
    for (const turn of turns) {
      assert.equal(turn.signal.aborted, true);
      assert.equal(turn.signal, turn.signal);
      assert.equal({ ...turn }.signal, turn.signal);
    }
  });
});

describe('the signal of a turn', () => {
  it('has the first reason, and tells those who listen once', () => {
    const stop = new StopSignal<unknown>();
    let heard = 0;
    stop.signal.addEventListener('abort', () => {
      heard += 1;
    });
    stop.abort('first');
    stop.abort('second');
    assert.equal(heard, 1);
    assert.equal(stop.signal.reason, 'first');
  });
});
