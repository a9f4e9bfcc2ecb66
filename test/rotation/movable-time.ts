import { JUMP_MS, movedEvent } from './jumps.ts';

/*
 * Loaded before the program: each SIGUSR2 moves its wall clock ahead, once it has said so. Timers stay as they are, so
 * nothing is fired that did not fall due.
 */
const now = Date.now;
let jumps = 0;
Date.now = () => now() + jumps * JUMP_MS;
process.on('SIGUSR2', () => {
  jumps += 1;
  process.stdout.write(`${JSON.stringify({ level: 'info', event: movedEvent(jumps) })}\n`);
});
