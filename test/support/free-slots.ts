import type { Owner } from '../../core/principal.ts';
import type { Runner } from '../../core/runtime/runner.ts';
import { until } from './until.ts';

const OWNER: Owner = { tenant: 'test', principal: 'somebody', agent: 'agent' };

/** A runner keeps slots for messages when its last claim has found that nobody waits. */
export async function untilSlotIsFree(runner: Runner, owner = OWNER): Promise<void> {
  await until('a slot is free for a message', () => {
    const slot = runner.reserve(owner, 'task');
    slot?.release();
    return slot !== undefined;
  });
}

/** Takes all that are left for the owner, gives them back, and answers how many they were. */
export function countFreeSlots(runner: Runner, owner = OWNER): number {
  const slots = [];
  for (let slot = runner.reserve(owner, 'task'); slot; slot = runner.reserve(owner, 'task')) slots.push(slot);
  for (const slot of slots) slot.release();
  return slots.length;
}
