import { checkAudit, checkCredentials, checkTenants } from './check-books.ts';
import { checkEvents } from './check-events.ts';
import { checkArtifacts, checkStatus, hasEnded } from './check-snapshot.ts';
import { checkTurns, type Moment } from './check-turns.ts';
import { createTaskReport, type Finding, quoted } from './findings.ts';
import type { StoredFacts, TaskFacts } from './stored-facts.ts';
import { isTaskState } from './stored-json.ts';

/*
 * Checks everything that this service promises about its stored data. It reads one task after the other and holds one
 * at a time; of the largest task it holds the artifacts.
 */

export interface VerifyOptions {
  /** What nobody does for this long although it is due is a finding. Infinity: the service is stopped, nothing is due. */
  readonly staleAfterMs: number;
}

export interface VerifyCounts {
  readonly tasks: number;
  readonly events: number;
  readonly messages: number;
  readonly executions: number;
  readonly findings: number;
}

type Report = (finding: Finding) => void;

async function checkTask(task: TaskFacts, moment: Moment, reportAll: Report) {
  const report = createTaskReport(task.id, reportAll);
  if (!task.owner) report('owner', 'its owner does not exist');
  if (!task.context) report('context', 'its context does not exist');
  else if (!task.context.own) report('context', 'its context belongs to another owner');
  if (!isTaskState(task.state)) report('unreadable', `the state ${quoted(task.state)}`);
  if (task.exclusive && !hasEnded(task) && task.context && task.context.liveExclusive > 1) {
    report('exclusive', `its context has ${task.context.liveExclusive} tasks that have not ended`);
  }
  const { count: events, folded } = await checkEvents(task, report);
  checkStatus(task, folded, report);
  await checkArtifacts(task, folded, report);
  const turns = await checkTurns(task, moment, report);
  report.close();
  return { ...turns, events };
}

/**
 * Reports each finding as it is found, those about the database as a whole first. Rejects when the facts can no longer
 * be read; what was reported until then holds.
 */
export async function verify(facts: StoredFacts, options: VerifyOptions, report: Report): Promise<VerifyCounts> {
  const moment = { now: facts.now, staleAfterMs: options.staleAfterMs };
  const counts = { tasks: 0, events: 0, messages: 0, executions: 0, findings: 0 };
  const counted: Report = (finding) => {
    counts.findings += 1;
    report(finding);
  };
  for await (const damage of facts.damage()) counted(damage);
  for await (const task of facts.tasks()) {
    const { events, messages, executions } = await checkTask(task, moment, counted);
    counts.tasks += 1;
    counts.events += events;
    counts.messages += messages;
    counts.executions += executions;
  }
  await checkCredentials(facts, options.staleAfterMs, counted);
  await checkTenants(facts, options.staleAfterMs, counted);
  await checkAudit(facts, counted);
  return counts;
}
