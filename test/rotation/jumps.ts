import { fileURLToPath } from 'node:url';
import type { ServiceProcess } from '../support/service-process.ts';

/** Less than an invocation token lives, so that one that is on its way survives a jump. Two pass a key set's cooldown. */
export const JUMP_MS = 20_000;
export const MOVABLE_TIME = fileURLToPath(new URL('./movable-time.js', import.meta.url));

export function movedEvent(jump: number): string {
  return `time.moved.${jump}`;
}

/** The wall clock of a process that was loaded with MOVABLE_TIME. */
export interface ServiceTime {
  /** How far it is ahead of ours. */
  readonly aheadMs: number;
  /**
   * Past the time in which the key set is not asked for again. `arrived` resolves when whatever was on its way when it
   * was called has come: nothing may be under way during more than one jump.
   */
  passCooldown(arrived: () => Promise<void>): Promise<void>;
}

export function serviceTime(service: ServiceProcess): ServiceTime {
  let jumps = 0;
  return {
    get aheadMs() {
      return jumps * JUMP_MS;
    },
    async passCooldown(arrived) {
      for (let jump = 0; jump < 2; jump += 1) {
        service.signal('SIGUSR2');
        await service.logged(movedEvent(jumps + 1));
        jumps += 1;
        await arrived();
      }
    },
  };
}
