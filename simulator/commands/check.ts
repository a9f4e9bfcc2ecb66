import { startAtlassian } from '../atlassian.ts';
import { hasFailed, runChecks } from '../checks/run-checks.ts';
import { formatTable } from '../checks/table.ts';
import { pause } from '../pause.ts';
import type { Arguments } from './arguments.ts';
import { environmentHelp } from './usage.ts';

const WAIT_FOR_AGENT_MS = 60_000;
const KNOCK_EVERY_MS = 500;
/** It starts, or it is still the one that was started without these variables. */
const PROGRESS = { pass: '.', fail: 'F', skip: 's' } as const;
const NOT_READY = new Set([0, 401, 502, 503]);

/** Runs the readiness table with keys and sites of its own. Resolves with whether every rule held. */
export async function check(args: Arguments, signal: AbortSignal, write: (text: string) => void): Promise<boolean> {
  const atlassian = await startAtlassian({
    jwksPort: args.jwksPort,
    sitePort: args.sitePort,
    timeScale: args.timeScale,
  });
  try {
    write(
      `Checking ${args.url}. It has to trust this Atlassian, that is to run with:\n\n${environmentHelp(atlassian.env)}\n\n`,
    );
    const knock = atlassian.client({ url: args.url });
    const giveUpAt = performance.now() + WAIT_FOR_AGENT_MS;
    for (;;) {
      const answer = await knock.get('is-anybody-there').catch(() => undefined);
      if (answer && !NOT_READY.has(answer.status)) break;
      if (signal.aborted || performance.now() > giveUpAt) {
        const seen = answer ? `answers HTTP ${answer.status}: it does not trust these keys` : 'does not answer';
        write(`${args.url} ${seen}.\n`);
        return false;
      }
      await pause(KNOCK_EVERY_MS, signal);
    }
    const rows = await runChecks({
      atlassian,
      url: args.url,
      quick: args.quick,
      ...(args.only.length > 0 ? { only: args.only } : {}),
      skip: args.skip,
      onRow: (row) => write(args.json ? `${JSON.stringify(row)}\n` : PROGRESS[row.status]),
    });
    if (!args.json) write(`\n${formatTable(rows)}`);
    return !hasFailed(rows);
  } finally {
    await atlassian.close();
  }
}
