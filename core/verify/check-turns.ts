import { sameOwner } from '../principal.ts';
import { checkAttempts, checkHeld, checkOutcomes, checkPushConfigs } from './check-claims.ts';
import { hasEnded } from './check-snapshot.ts';
import { quoted, type TaskReport } from './findings.ts';
import type { ExecutionFacts, TaskFacts } from './stored-facts.ts';
import { isTaskState, parseJson, parseRole } from './stored-json.ts';

/* Messages, the executions that answer them, leases, steps and request rows. */

/** By which a look at leases and deadlines is judged. */
export interface Moment {
  /** Epoch milliseconds of the store's clock. */
  readonly now: number;
  readonly staleAfterMs: number;
}

const OUTCOMES: ReadonlySet<string> = new Set(['open', 'done', 'dead', 'closed']);
const INTERRUPTED: ReadonlySet<string> = new Set(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']);

/** Ordinal to role. */
async function readHistory(task: TaskFacts, report: TaskReport): Promise<ReadonlyMap<number, string>> {
  const roles = new Map<number, string>();
  let last = 0;
  for await (const { ordinal, json } of task.history()) {
    if (ordinal !== last + 1) report('history', `message ${ordinal} comes after message ${last}`);
    last = ordinal;
    const role = parseRole(json);
    if (role === undefined) report('unreadable', `message ${ordinal}`);
    roles.set(ordinal, role ?? '');
  }
  if (last !== task.messages) report('history', `the last message is ${last}, the task says ${task.messages}`);
  if (!roles.has(1)) report('history', 'there is no first message');
  return roles;
}

async function readExecutions(task: TaskFacts): Promise<ReadonlyMap<number, ExecutionFacts>> {
  const executions = new Map<number, ExecutionFacts>();
  for await (const execution of task.executions()) executions.set(execution.ordinal, execution);
  return executions;
}

type Executions = ReadonlyMap<number, ExecutionFacts>;

function checkExecutions(
  task: TaskFacts,
  executions: Executions,
  roles: ReadonlyMap<number, string>,
  report: TaskReport,
) {
  for (const [ordinal, role] of roles) {
    if (role === 'ROLE_USER' && !executions.has(ordinal)) report('execution', `message ${ordinal} has no execution`);
  }
  for (const { ordinal, outcome, agent, takenBy, attempt } of executions.values()) {
    if (!roles.has(ordinal)) report('execution', `execution ${ordinal} has no message`);
    else if (roles.get(ordinal) === 'ROLE_AGENT') report('execution', `execution ${ordinal} answers the agent itself`);
    if (!OUTCOMES.has(outcome)) report('execution', `execution ${ordinal} has outcome ${quoted(outcome)}`);
    if (attempt < 0) report('execution', `execution ${ordinal} has ${attempt} attempts`);
    if (task.owner && agent !== task.owner.agent) report('execution', `execution ${ordinal} is for another agent`);
    if (takenBy !== undefined && (takenBy === ordinal || !executions.has(takenBy))) {
      report('execution', `execution ${ordinal} was taken by execution ${takenBy}, which does not exist or is itself`);
    }
  }
  const parked = task.parkedOrdinal === undefined ? undefined : executions.get(task.parkedOrdinal);
  if (task.parkedOrdinal !== undefined && parked?.outcome !== 'closed') {
    report('parked', `turn ${task.parkedOrdinal} is parked and its execution is ${parked?.outcome ?? 'missing'}`);
  }
}

function checkOpen(task: TaskFacts, executions: Executions, report: TaskReport): void {
  const open = [...executions.values()].filter(({ outcome }) => outcome === 'open').map(({ ordinal }) => ordinal);
  if ((hasEnded(task) || INTERRUPTED.has(task.state)) && open.length > 0) {
    report('open-execution', `the state is ${task.state} and execution ${open.join(', ')} is open`);
  }
  if (isTaskState(task.state) && !hasEnded(task) && !INTERRUPTED.has(task.state) && open.length === 0) {
    report('open-execution', `the state is ${task.state} and no execution is open`);
  }
}

function checkLeases(executions: Executions, { now, staleAfterMs }: Moment, report: TaskReport): void {
  const live: number[] = [];
  for (const { ordinal, outcome, leaseOwner, claimableAt } of executions.values()) {
    if (leaseOwner === undefined) continue;
    if (outcome !== 'open') report('lease', `execution ${ordinal} is ${outcome} and leased`);
    else if (claimableAt > now) live.push(ordinal);
    else if (now - claimableAt > staleAfterMs) {
      report('stale-lease', `that of execution ${ordinal} ran out ${minutes(now - claimableAt)} ago`);
    }
  }
  if (live.length > 1) report('lease', `executions ${live.join(', ')} are leased at the same time`);
}

function checkDeadline(task: TaskFacts, { now, staleAfterMs }: Moment, report: TaskReport): void {
  if (hasEnded(task)) return;
  if (task.deadlineAt === undefined) report('deadline', `the state is ${task.state}`);
  else if (now - task.deadlineAt > staleAfterMs) {
    report('overdue', `the deadline passed ${minutes(now - task.deadlineAt)} ago and the state is ${task.state}`);
  }
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} min`;
}

async function checkSteps(task: TaskFacts, executions: Executions, report: TaskReport): Promise<void> {
  for await (const { ordinal, key, attempt, finished, resultJson } of task.steps()) {
    const name = `step ${quoted(key)} of turn ${ordinal}`;
    const execution = executions.get(ordinal);
    if (!execution) report('step', `${name} belongs to no execution`);
    else if (attempt > execution.attempt) {
      report('step', `${name} is of attempt ${attempt}, the turn had ${execution.attempt}`);
    }
    if (finished !== (resultJson !== undefined))
      report(
        'step',
        `${name} is ${finished ? '' : 'not '}finished and has ${resultJson === undefined ? 'no' : 'a'} result`,
      );
    if (resultJson !== undefined && !parseJson(resultJson)) report('unreadable', `the result of ${name}`);
  }
}

async function checkRequests(task: TaskFacts, report: TaskReport): Promise<void> {
  for await (const { messageId, owner, sequence, answer } of task.requests()) {
    const name = `message id ${quoted(messageId)}`;
    if (!owner || !task.owner || !sameOwner(owner, task.owner)) report('request', `${name} was sent by somebody else`);
    if (sequence < 1 || sequence > task.sequence) {
      report('request', `${name} points at event ${sequence} of ${task.sequence}`);
    }
    if (answer !== 'task' && answer !== 'message') report('request', `${name} is answered by ${quoted(answer)}`);
  }
}

export interface TurnCounts {
  readonly messages: number;
  readonly executions: number;
}

export async function checkTurns(task: TaskFacts, moment: Moment, report: TaskReport): Promise<TurnCounts> {
  const roles = await readHistory(task, report);
  const executions = await readExecutions(task);
  checkExecutions(task, executions, roles, report);
  checkOpen(task, executions, report);
  checkLeases(executions, moment, report);
  checkDeadline(task, moment, report);
  checkOutcomes(task, executions, report);
  checkHeld(task, executions, report);
  await checkAttempts(task, executions, report);
  await checkPushConfigs(task, report);
  await checkSteps(task, executions, report);
  await checkRequests(task, report);
  return { messages: roles.size, executions: executions.size };
}
