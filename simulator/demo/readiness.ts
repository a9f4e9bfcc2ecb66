import { type CheckRow, runChecks } from '../checks/run-checks.ts';
import { formatTable } from '../checks/table.ts';
import type { Scene } from './stage.ts';

/** 900 s become 3, 55 s the second that no scaled deadline goes below. */
export const TIME_SCALE = 300;
/** The service's side of the same clocks, each a little before Jira's as in real life. */
const SCALED_SETTINGS = {
  ROVO_WAIT_MS: '300',
  ROVO_SYNC_DEADLINE_MS: '600',
  ROVO_STREAM_DEADLINE_MS: '2500',
};

const STYLES: Readonly<Record<CheckRow['status'], 'green' | 'red' | 'dim'>> = {
  pass: 'green',
  fail: 'red',
  skip: 'dim',
};

export const READINESS: Scene = {
  title: 'What Jira expects of a remote agent, rule by rule',
  async play({ atlassian, service, show, claim }) {
    await service.start(SCALED_SETTINGS);
    show.note(
      `The service runs again, with Jira's clocks ${TIME_SCALE} times as fast so that a limit of 15 minutes is met in seconds. ` +
        'Rules that take half a minute whatever the clocks say are left out: `npm run simulator -- check` has them.',
    );
    const rows = await runChecks({ atlassian, url: service.url(), quick: true });
    for (const line of formatTable(rows).split('\n')) {
      const status = /^ {2}(pass|fail|skip) /.exec(line)?.[1] as CheckRow['status'] | undefined;
      show.line(line, status === undefined ? undefined : STYLES[status]);
    }
    const failed = rows.filter(({ status }) => status === 'fail');
    for (const row of failed) claim(false, row.rule, row.seen);
    const kept = rows.filter(({ status }) => status === 'pass').length;
    claim(
      kept > 0 && failed.length === 0,
      `no rule is broken: ${kept} kept, ${rows.length - kept - failed.length} without an occasion`,
      `${failed.length} broken`,
    );
    service.signal('SIGTERM');
    const exit = await service.exited();
    claim(exit === 0, 'the service stopped with exit code 0', String(exit));
  },
};
