import { drained, openTurns } from './database.ts';
import { startGenerator } from './load/processes.ts';
import { jobFor, meter } from './measure.ts';
import { ANONYMOUS, BODIES } from './operations.ts';
import type { Scenario } from './scenario.ts';
import { median } from './statistics.ts';
import { OURS } from './target.ts';

/*
 * Accepts with the worker on: messages come faster than turns can run, and the clock stops when the last turn is over.
 * What is measured is a task from its message to its end, at full load and without anybody who waits.
 */

const CONNECTIONS = 64;

export const backlog: Scenario = async (print, { rounds, seconds }) => {
  const generator = startGenerator();
  const rates: number[] = [];
  const cpu: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const running = await OURS.start();
      const bodies = await BODIES.accept(running, ANONYMOUS);
      const job = { ...jobFor(running, ANONYMOUS), bodies, connections: CONNECTIONS };
      await generator.run({ ...job, durationMs: 1_000 });
      await drained(running.folder);
      const used = await meter(running);
      const began = performance.now();
      const { requests, errors, elapsedMs } = await generator.run({ ...job, durationMs: seconds * 1_000 });
      const left = openTurns(running.folder);
      await drained(running.folder);
      const allMs = performance.now() - began;
      const accepted = requests - errors;
      const { cpuMsEach, commitsEach } = await used(accepted);
      rates.push((accepted * 1_000) / allMs);
      if (cpuMsEach !== undefined) cpu.push(cpuMsEach);
      print(
        `${accepted} accepted in ${(elapsedMs / 1_000).toFixed(1)} s, ${left} turns left then, ${errors} errors; ` +
          `all over after ${(allMs / 1_000).toFixed(1)} s: ${((accepted * 1_000) / allMs).toFixed(0)} tasks/s, ` +
          `CPU ${cpuMsEach?.toFixed(2) ?? '–'} ms and ${commitsEach?.toFixed(2) ?? '–'} commits a task`,
      );
      await running.stop();
    }
  } finally {
    generator.close();
  }
  print(`median ${median(rates).toFixed(0)} tasks/s at ${CONNECTIONS} senders, until the backlog is empty`);
  return { tasksPerSecond: median(rates), ...(cpu.length > 0 ? { cpuMsEach: median(cpu) } : {}) };
};
