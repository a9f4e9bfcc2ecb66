import { LIMITS } from '../limits.ts';
import { hasEnded } from './check-snapshot.ts';
import { quoted, type TaskReport } from './findings.ts';
import type { ExecutionFacts, TaskFacts } from './stored-facts.ts';
import { parseObject } from './stored-json.ts';

/*
 * What became of the claims of a task's turns, what holds turns back, and who wants to hear of it.
 *
 * The times of claims are not compared: a clock that was set back is no damage. A turn without any attempt was claimed by
 * a program that kept none.
 */

type Executions = ReadonlyMap<number, ExecutionFacts>;

export async function checkAttempts(task: TaskFacts, executions: Executions, report: TaskReport): Promise<void> {
  const last = new Map<number, number>();
  for await (const { ordinal, attempt, claimedAt, worker } of task.attempts()) {
    const name = `attempt ${attempt} of turn ${ordinal}`;
    const before = last.get(ordinal) ?? 0;
    if (attempt !== before + 1) report('attempt', `${name} comes after attempt ${before}`);
    last.set(ordinal, attempt);
    if (!executions.has(ordinal)) report('attempt', `${name} belongs to no execution`);
    if (claimedAt <= 0 || worker === '') report('attempt', `${name} was made by nobody, or never`);
  }
  for (const [ordinal, attempt] of last) {
    const counted = executions.get(ordinal)?.attempt;
    if (counted !== undefined && counted !== attempt) {
      report('attempt', `the last attempt of turn ${ordinal} is ${attempt}, the turn counts ${counted}`);
    }
  }
}

export function checkOutcomes(task: TaskFacts, executions: Executions, report: TaskReport): void {
  for (const { ordinal, outcome, ended, retriedAs, error } of executions.values()) {
    const name = `execution ${ordinal}`;
    if (outcome === 'open' && (ended || error)) report('outcome', `${name} is open and has ended`);
    if (outcome === 'dead' && !hasEnded(task)) report('outcome', `${name} is dead and the state is ${task.state}`);
    if (outcome === 'dead' && !error) report('outcome', `${name} is dead for no reason`);
    if (retriedAs === undefined) continue;
    if (outcome !== 'dead' && outcome !== 'closed') report('outcome', `${name} was retried and is ${outcome}`);
    if (retriedAs === task.id) report('outcome', `${name} was retried as its own task`);
  }
}

export function checkHeld(task: TaskFacts, executions: Executions, report: TaskReport): void {
  for (const { ordinal, outcome, leaseOwner, held } of executions.values()) {
    if (outcome !== 'open') continue;
    if (held && !task.tenantPaused) report('pause', `execution ${ordinal} is held back and its tenant is not paused`);
    if (held && leaseOwner !== undefined) report('pause', `execution ${ordinal} is held back and leased`);
    if (!held && task.tenantPaused && leaseOwner === undefined) {
      report('pause', `execution ${ordinal} is not held back and its tenant is paused`);
    }
  }
}

function isWebAddress(url: string): boolean {
  return /^https?:\/\/[^/\s]/i.test(url);
}

export async function checkPushConfigs(task: TaskFacts, report: TaskReport): Promise<void> {
  let count = 0;
  for await (const { id, url, secretsJson } of task.pushConfigs()) {
    count += 1;
    const name = `push config ${quoted(id)}`;
    if (id === '') report('push-config', 'one has no id');
    if (!isWebAddress(url)) report('push-config', `${name} is for no web address`);
    if (secretsJson !== undefined && !parseObject(secretsJson)) report('unreadable', `the authentication of ${name}`);
  }
  if (count > LIMITS.pushConfigsMax) report('push-config', `there are ${count} of them`);
}
