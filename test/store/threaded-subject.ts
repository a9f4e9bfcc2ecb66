import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { openExistingSqliteStore } from '../../adapters/sqlite/open.ts';
import { serveStore } from '../../adapters/sqlite/serve-store.ts';
import type { FromStore, MessageEnd, ToStore } from '../../adapters/sqlite/store-messages.ts';
import { connectStore } from '../../adapters/sqlite/threaded-store.ts';
import { ruleOf } from '../../core/decide/rules.ts';
import type { Decide, RuleCall } from '../../core/ports/decide.ts';
import type { TaskStore } from '../../core/ports/task-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { PushSubject } from './push-configs-contract.ts';
import { createRecordingWakeups } from './subject.ts';

const OF_A_TEST = 'of a test';

type AnyDecide = Decide<never[], unknown>;

/**
 * Both sides of the store's thread, with the messages between them, in one thread: so they share the clock that a test
 * moves. Decide functions that a test makes up are kept on one side and found again on the other.
 */
export async function openThreadedSubject(t: TestContext): Promise<PushSubject> {
  const path = join(tempDir(t), 'store.db');
  const clock = createManualClock();
  const wakeups = createRecordingWakeups();
  const { port1, port2 } = new MessageChannel();
  const kept: AnyDecide[] = [];
  const decideFor = (call: RuleCall) => {
    const found = call.name === OF_A_TEST ? kept[Number(call.data)] : ruleOf(call);
    if (!found) throw new TypeError('no such function');
    return (...view: never[]) => found(...view);
  };
  const keep = <V extends readonly unknown[], R>(decide: Decide<V, R>): Decide<V, R> => {
    if (decide.rule) return decide;
    kept.push(decide as unknown as AnyDecide);
    const rule = { name: OF_A_TEST, data: kept.length - 1 };
    const { moved } = decide;
    return Object.assign((...view: V) => decide(...view), moved ? { rule, moved } : { rule });
  };
  void serveStore(port2 as MessageEnd<FromStore, ToStore>, { path, clock, decideFor });
  const gone = new Promise<void>((resolve) => port1.on('close', () => resolve()));
  const options = { path, clock, wakeups, telemetry: silentTelemetry };
  const ports = await connectStore(port1 as MessageEnd<ToStore, FromStore>, options, gone);
  const store: TaskStore = {
    ...ports.store,
    accept: (request, decide) => ports.store.accept(request, keep(decide)),
    update: (request, decide) => ports.store.update(request, keep(decide)),
    claim: (request, begin) => ports.store.claim(request, keep(begin)),
    renewCredential: (subject, credential, resume) => ports.store.renewCredential(subject, credential, keep(resume)),
  };
  // Operators are always beside the service, with a connection of their own.
  const beside = await openExistingSqliteStore({ path, clock, wakeups: createRecordingWakeups() });
  t.after(async () => {
    await beside.store.close();
    await store.close();
    port1.close();
  });
  return {
    ...{ store, tenants: ports.tenants, operator: beside.operator, configs: ports.pushConfigs },
    now: () => clock.now(),
    advance: (ms) => clock.advance(ms),
    notified: () => wakeups.notified(),
  };
}
