import { startAtlassian } from '../atlassian.ts';
import { CHECKS } from '../checks/list.ts';
import { hasFailed, isNamed, runChecks } from '../checks/run-checks.ts';
import { formatTable } from '../checks/table.ts';
import type { JiraClient } from '../client/jira-client.ts';
import { nobodyThere } from '../client/polling.ts';
import { pause } from '../pause.ts';
import { type Arguments, UsageError } from './arguments.ts';
import { explainStatus, seconds } from './narration.ts';
import { environmentHelp } from './usage.ts';

const WAIT_FOR_AGENT_MS = 60_000;
const KNOCK_EVERY_MS = 500;
const KNOCK_LIMIT_MS = 5_000;
const PROGRESS = { pass: '.', fail: 'F', skip: 's' } as const;
/** It starts, or it is still the one that was started without these variables. */
const NOT_READY = new Set([401, 404, 502, 503]);

function mustExist(option: string, names: readonly string[]): void {
  for (const name of names) {
    if (CHECKS.some((check) => isNamed([name], check))) continue;
    const group = name.split('.')[0] ?? '';
    const rows = CHECKS.map(({ id }) => id).filter((id) => id.startsWith(`${group}.`));
    const groups = [...new Set(CHECKS.map(({ id }) => id.split('.')[0]))];
    const known = rows.length > 0 ? `rows of ${group}: ${rows.join(', ')}` : `groups: ${groups.join(', ')}`;
    throw new UsageError(`${option} ${name}: no row or group is called that; ${known}`);
  }
}

interface Waiting {
  readonly url: string;
  readonly signal: AbortSignal;
  readonly write: (text: string) => void;
}

/** Knocks until the agent answers a call of ours. Each reason to wait is said when it is first seen. */
async function waitForAgent(knock: JiraClient, { url, signal, write }: Waiting): Promise<boolean> {
  const giveUpAt = performance.now() + WAIT_FOR_AGENT_MS;
  let said = '';
  for (;;) {
    const seen = await knock.get('is-anybody-there', { limitMs: KNOCK_LIMIT_MS, signal }).then(
      ({ status, timedOut }) => {
        if (timedOut) return 'no answer';
        return NOT_READY.has(status) ? explainStatus(status, url) : '';
      },
      (error: unknown) => nobodyThere(error),
    );
    if (seen === '') return true;
    const leftMs = giveUpAt - performance.now();
    if (seen !== said) write(`${seen}\n${leftMs > 0 ? `  waiting for it for ${seconds(leftMs)} more\n` : ''}`);
    said = seen;
    if (signal.aborted || leftMs <= 0) {
      write(`Gave up on ${url}. The last that was seen: ${seen}\n`);
      return false;
    }
    await pause(KNOCK_EVERY_MS, signal);
  }
}

/** Runs the readiness table with keys and sites of its own. Resolves with whether every rule held. */
export async function check(args: Arguments, signal: AbortSignal, write: (text: string) => void): Promise<boolean> {
  mustExist('--only', args.only);
  mustExist('--skip', args.skip);
  const atlassian = await startAtlassian({
    jwksPort: args.jwksPort,
    sitePort: args.sitePort,
    timeScale: args.timeScale,
  });
  try {
    write(
      `Checking ${args.url}. It has to trust this Atlassian, that is to run with:\n\n${environmentHelp(atlassian.env)}\n\n`,
    );
    if (!(await waitForAgent(atlassian.client({ url: args.url }), { url: args.url, signal, write }))) return false;
    if (!args.json)
      write(`It answers. ${args.quick ? '' : 'The slow rows take about two minutes (--quick leaves them out).'}\n`);
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
