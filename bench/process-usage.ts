import { readFile } from 'node:fs/promises';

/** What a process has used since it started. */
export interface ProcessUsage {
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** The most that it ever had. */
  readonly peakRssBytes: number;
}

/** What the kernel counts processor time in for every program, whatever it counts in itself. */
const TICKS_PER_SECOND = 100;
/** Counted behind the name, which may hold spaces and brackets of its own. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

function kilobytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024;
}

/** Linux only: undefined elsewhere, and when the process is gone. */
export async function usageOf(pid: number): Promise<ProcessUsage | undefined> {
  try {
    const [stat, status] = await Promise.all(
      ['stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
    );
    if (stat === undefined || status === undefined) return undefined;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS]);
    return {
      cpuMs: (ticks * 1_000) / TICKS_PER_SECOND,
      rssBytes: kilobytes(status, 'VmRSS'),
      peakRssBytes: kilobytes(status, 'VmHWM'),
    };
  } catch {
    return undefined;
  }
}

/** Open files that this process, and so one that it starts, may have. Undefined where that cannot be told. */
export async function openFilesLimit(): Promise<number | undefined> {
  try {
    const soft = /^Max open files\s+(\S+)/m.exec(await readFile('/proc/self/limits', 'utf8'))?.[1];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return undefined;
  }
}
