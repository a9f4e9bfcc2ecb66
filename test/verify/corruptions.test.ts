import { describe, it } from 'node:test';
import { type Corruption, findEach } from './plant.ts';

const NEXT_EVENT = '(select max(sequence) + 1 from event where task = :task)';
const LAST_EVENT = '(select max(sequence) from event where task = :task)';

const CORRUPTIONS: readonly Corruption[] = [
  {
    name: 'an event is missing in the middle',
    sql: 'delete from event where task = :task and sequence = 2',
    story: 'stepped',
    rules: ['sequence', 'transition'],
    says: /event 3 comes after event 1/,
  },
  {
    name: 'the last event is missing',
    sql: `delete from event where task = :task and sequence = ${LAST_EVENT}`,
    story: 'rejected',
    rules: ['sequence', 'snapshot'],
    says: /the last event is 2, the task says 3/,
  },
  {
    name: 'every event is missing',
    sql: 'delete from event where task = :task',
    story: 'threw',
    rules: ['sequence'],
  },
  {
    name: 'an event follows the end',
    sql: `insert into event select task, ${NEXT_EVENT}, at, json from event where task = :task and sequence = ${LAST_EVENT};
      update task set sequence = sequence + 1 where pk = :task`,
    story: 'canceled',
    rules: ['terminal'],
    says: /event \d+ follows event \d+, which ends the task/,
  },
  {
    name: 'the state of the row is not that of its status',
    sql: "update task set state = 'TASK_STATE_WORKING' where pk = :task",
    story: 'rejected',
    rules: ['snapshot', 'open-execution', 'deadline'],
  },
  {
    name: 'the snapshot was never written',
    sql: `update task set state = 'TASK_STATE_FAILED', status = json_set(status, '$.state', 'TASK_STATE_FAILED')
      where pk = :task`,
    story: 'stepped',
    rules: ['snapshot'],
    says: /the status says TASK_STATE_FAILED, the events end at TASK_STATE_COMPLETED/,
  },
  {
    name: 'a state that the machine does not allow',
    sql: `update event set json = json_set(json, '$.statusUpdate.status.state', 'TASK_STATE_INPUT_REQUIRED')
      where task = :task and sequence = 2`,
    story: 'replied',
    rules: ['transition'],
    says: /event 3 goes from TASK_STATE_INPUT_REQUIRED to TASK_STATE_COMPLETED/,
  },
  {
    name: 'time goes back',
    sql: `update event set json = json_set(json, '$.task.status.timestamp', '2040-01-01T00:00:00.000Z')
      where task = :task and sequence = 1`,
    story: 'asking',
    rules: ['timestamp'],
    says: /event 2 is of 2026/,
  },
  {
    name: 'a list sorts by another time than the status shows',
    sql: 'update task set status_at = status_at + 1 where pk = :task',
    story: 'asked',
    rules: ['snapshot'],
  },
  {
    name: 'a character of an artifact is lost',
    sql: `update artifact_part set json = '{"text":"one,"}' where position = 1
      and artifact = (select pk from artifact where task = :task and id = 'a')`,
    story: 'artifacts',
    rules: ['artifact'],
    says: /artifact "a": part \d+ is not what the events showed/,
  },
  {
    name: 'the file that stands behind a placeholder is another one',
    sql: `update artifact_part set json = json_set(json, '$.filename', 'other.pdf') where position = 2
      and artifact = (select pk from artifact where task = :task and id = 'b')`,
    story: 'artifacts',
    rules: ['artifact'],
    says: /artifact "b": part 2/,
  },
  {
    name: 'parts of an artifact are missing at its end',
    sql: `delete from artifact_part where artifact = (select pk from artifact where task = :task and id = 'c')
      and position = 2`,
    story: 'artifacts',
    rules: ['artifact'],
    says: /artifact "c" ends before/,
  },
  {
    name: 'an artifact is missing',
    sql: "delete from artifact where task = :task and id = 'c'",
    story: 'artifacts',
    rules: ['artifact', 'orphan'],
    says: /artifact "c" was shown and is not stored/,
  },
  {
    name: 'what a lost attempt wrote is still there',
    sql: `insert into artifact (task, id) values (:task, 'only-once');
      insert into artifact_writer select max(pk), 1, 1 from artifact;
      insert into artifact_part select max(pk), 1, 1, 1, 0, '{"text":"gone"}' from artifact`,
    story: 'lost',
    rules: ['artifact'],
    says: /artifact "only-once" is in no event, or was withdrawn/,
  },
  {
    name: 'a part whose attempt the artifact does not know',
    sql: "delete from artifact_writer where artifact = (select pk from artifact where task = :task and id = 'a')",
    story: 'artifacts',
    rules: ['artifact'],
    says: /written by turn 1, attempt 1, which it does not know/,
  },
  {
    name: 'a label was changed',
    sql: "update artifact set name = 'Other' where task = :task and id = 'a'",
    story: 'artifacts',
    rules: ['artifact'],
    says: /other labels/,
  },
  {
    name: 'the metadata of the task were changed',
    sql: `update task set metadata = '{"progress":60}' where pk = :task`,
    story: 'artifacts',
    rules: ['snapshot'],
  },
  {
    name: 'the first message is missing',
    sql: 'delete from message where task = :task and ordinal = 1',
    story: 'asking',
    rules: ['history', 'execution'],
    says: /execution 1 has no message/,
  },
  {
    name: 'a message was accepted without its execution',
    sql: 'delete from execution where task = :task and ordinal = 3',
    story: 'asked',
    rules: ['execution', 'attempt'],
    says: /message 3 has no execution/,
  },
  {
    name: 'a finished task has an open execution',
    sql: "update execution set outcome = 'open', ended_at = null, error = null where task = :task",
    story: 'canceled',
    rules: ['open-execution'],
    says: /the state is TASK_STATE_CANCELED and execution 1 is open/,
  },
  {
    name: 'a task works and nothing will ever run',
    sql: "update execution set outcome = 'closed', lease_owner = null where task = :task",
    story: 'running',
    rules: ['open-execution'],
    says: /no execution is open/,
  },
  {
    name: 'two leases at once',
    sql: `update execution set lease_owner = 'other', claimable_at = (select max(claimable_at) from execution where task = :task)
      where task = :task`,
    story: 'running',
    rules: ['lease'],
    says: /executions 1, 2 are leased at the same time/,
  },
  {
    name: 'a lease on a closed execution',
    sql: "update execution set lease_owner = 'other' where task = :task",
    story: 'threw',
    rules: ['lease'],
    says: /execution 1 is dead and leased/,
  },
  {
    name: 'a lease that nobody took over',
    sql: 'update execution set claimable_at = claimable_at - 3600000 where task = :task and lease_owner is not null',
    story: 'running',
    rules: ['stale-lease'],
    says: /that of execution 1 ran out \d+ min ago/,
  },
  {
    name: 'an execution taken by one that does not exist',
    sql: 'update execution set taken_by = 9 where task = :task and ordinal = 3',
    story: 'asked',
    rules: ['execution'],
    says: /execution 3 was taken by execution 9/,
  },
  {
    name: 'an execution for another agent',
    sql: "update execution set agent = 'other' where task = :task",
    story: 'running',
    rules: ['execution'],
  },
  {
    name: 'a live task without a deadline',
    sql: 'update task set deadline_at = null where pk = :task',
    story: 'asking',
    rules: ['deadline'],
  },
  {
    name: 'a parked task that waits in another state',
    sql: "update task set parked_ordinal = 1, parked_hash = '' where pk = :task",
    story: 'asking',
    rules: ['parked'],
  },
  {
    name: 'a step of no execution',
    sql: "update step set ordinal = 7 where task = :task and key = 'first'",
    story: 'stepped',
    rules: ['step'],
    says: /step "first" of turn 7 belongs to no execution/,
  },
  {
    name: 'a finished step without a result',
    sql: "update step set result = null where task = :task and key = 'second'",
    story: 'stepped',
    rules: ['step'],
  },
  {
    name: 'a request row that points behind the last event',
    sql: 'update request set sequence = 99 where task = :task',
    story: 'rejected',
    rules: ['request'],
    says: /points at event 99 of 3/,
  },
  {
    name: 'a request row that gives one caller the task of another',
    sql: "update request set owner = (select pk from owner where principal = 'bob') where task = :task",
    story: 'stepped',
    rules: ['request'],
    says: /was sent by somebody else/,
  },
  {
    name: 'a second live task in an exclusive context',
    sql: `drop index task_exclusive;
      update task set exclusive = 1, owner = (select owner from task where pk = :task),
        context = (select context from task where pk = :task) where id = :running`,
    story: 'owned',
    others: ['running'],
    rules: ['schema', 'exclusive', 'event', 'request', 'lane', 'orphan'],
    says: /its context has 2 tasks that have not ended/,
  },
  {
    name: 'a task whose owner is gone',
    sql: "delete from owner where principal = 'bob'",
    story: 'parked',
    rules: ['owner', 'orphan', 'request'],
  },
  {
    name: 'children of a task that is gone',
    sql: 'delete from task where pk = :task',
    rules: ['orphan'],
    story: 'threw',
    says: /table event: \d rows of a missing task \(pk \d+\)/,
  },
  {
    name: 'a token that is kept for nobody',
    sql: "insert into credential values ('test', 'dave', 'hash', 9999999999999, 'sealed')",
    rules: ['credential'],
    says: /every task has ended/,
  },
  {
    name: 'a token of a removed tenant',
    sql: "insert into credential values ('rovo:gone', 'dave', 'hash', 9999999999999, 'sealed')",
    rules: ['credential'],
    says: /the tenant is removed/,
  },
  {
    name: 'a removed tenant that was never erased',
    sql: "insert into tenant values ('rovo:site', 'removed', '{}', 0)",
    rules: ['removed-tenant'],
    says: /"rovo:site" was removed \d+ min ago and has 1 tasks/,
  },
  {
    name: 'an event that is no JSON',
    sql: "update event set json = '{' where task = :task and sequence = 2",
    story: 'asking',
    rules: ['unreadable', 'transition'],
    says: /event 2/,
  },
  {
    name: 'an event that no client can read',
    sql: `update event set json = json_set(json, '$.statusUpdate.status.message.parts[0].text', printf('%.*c', 70000, 'x'))
      where task = :task and sequence = 3`,
    story: 'rejected',
    rules: ['frame'],
    says: /event 3 has 7\d{4} characters/,
  },
  {
    name: 'an event of another task',
    sql: `update event set json = json_set(json, '$.statusUpdate.taskId', 'other') where task = :task and sequence = 2`,
    story: 'stepped',
    rules: ['event'],
  },
  {
    name: 'a rule of the schema is gone',
    sql: 'drop index execution_lane',
    rules: ['schema'],
    says: /index execution_lane is missing/,
  },
  {
    name: 'nothing counts what waits any more',
    sql: 'drop trigger execution_opened',
    rules: ['schema'],
    says: /trigger execution_opened is missing/,
  },
  {
    name: 'a lane that does not count a turn',
    sql: "update lane set waiting = waiting - 1 where tenant <> ''",
    rules: ['lane'],
    says: /tenant "test", agent "agent": counts -?\d+ waiting and \d+ running, there are/,
  },
  {
    name: 'a sum of lanes that is none',
    sql: "update lane set waiting = waiting + 7 where tenant = ''",
    rules: ['lane'],
    says: /all tenants, agent "agent": counts \d+ waiting and 0 running/,
  },
  {
    name: 'turns in a lane of another tenant',
    sql: `insert into lane (agent, tenant, waiting, running, served) values ('agent', 'elsewhere', 0, 0, 0);
      update execution set lane = (select pk from lane where tenant = 'elsewhere') where outcome = 'open'`,
    rules: ['lane', 'orphan'],
    says: /rows to run in no lane of their tenant/,
  },
];

describe('verify', () => {
  it('names the rule and the place of each planted corruption', (t) => findEach(t, CORRUPTIONS));
});
