import { describe, it } from 'node:test';
import { type Corruption, findEach } from './plant.ts';

/* What is kept for operators, and beside the tasks. */

const AUDIT_ROW = 'insert into audit (at, actor, act, tenant, principal, task, ordinal, detail) values';

const CORRUPTIONS: readonly Corruption[] = [
  {
    name: 'an attempt is missing in the middle',
    sql: 'update execution set begun_by = null where task = :task',
    story: 'lost',
    rules: ['attempt'],
    says: /attempt 2 of turn 1 comes after attempt 0/,
  },
  {
    name: 'the last attempt is missing',
    sql: 'delete from turn_attempt where task = :task and attempt = 2',
    story: 'lost',
    rules: ['attempt'],
    says: /the last attempt of turn 1 is 1, the turn counts 2/,
  },
  {
    name: 'an attempt that the turn does not count',
    sql: "insert into turn_attempt values (:task, 1, 2, 5, 'somebody')",
    story: 'stepped',
    rules: ['attempt'],
    says: /the last attempt of turn 1 is 2, the turn counts 1/,
  },
  {
    name: 'an attempt of no turn',
    sql: "insert into turn_attempt values (:task, 7, 1, 5, 'somebody')",
    story: 'asking',
    rules: ['attempt'],
    says: /attempt 1 of turn 7 belongs to no execution/,
  },
  {
    name: 'an attempt that nobody made',
    sql: "update turn_attempt set worker = '', claimed_at = 0 where task = :task",
    story: 'lost',
    rules: ['attempt'],
  },
  {
    name: 'a turn that began with nobody',
    sql: "update execution set begun_by = '' where task = :task",
    story: 'rejected',
    rules: ['attempt'],
  },
  {
    name: 'a turn to run that has ended',
    sql: "update execution set ended_at = 5, error = 'why' where task = :task and outcome = 'open'",
    story: 'owned',
    rules: ['outcome'],
    says: /execution 1 is open and has ended/,
  },
  {
    name: 'a dead turn of a task that goes on',
    sql: "update execution set outcome = 'dead', error = 'why' where task = :task",
    story: 'asking',
    rules: ['outcome'],
    says: /execution 1 is dead and the state is TASK_STATE_INPUT_REQUIRED/,
  },
  {
    name: 'a dead turn without a reason',
    sql: 'update execution set error = null where task = :task',
    story: 'threw',
    rules: ['outcome'],
  },
  {
    name: 'a turn that was retried and went well',
    sql: "update execution set retried_as = 'another' where task = :task",
    story: 'replied',
    rules: ['outcome'],
    says: /execution 1 was retried and is done/,
  },
  {
    name: 'a turn that is held back for nobody',
    sql: "delete from tenant_pause where tenant = 'rovo:paused'",
    story: 'held',
    rules: ['pause'],
    says: /execution 1 is held back and its tenant is not paused/,
  },
  {
    name: 'a turn that is not held back with its tenant',
    sql: 'update execution set claimable_at = 5 where task = :task',
    story: 'held',
    rules: ['pause'],
    says: /execution 1 is not held back and its tenant is paused/,
  },
  {
    name: 'a pause of a tenant that is gone',
    sql: "insert into tenant_pause values ('rovo:gone', 5)",
    rules: ['pause'],
    says: /that of "rovo:gone" is of a removed tenant/,
  },
  {
    name: 'a pause of every runner that never began',
    sql: 'insert into runner_pause values (1, 0)',
    rules: ['pause'],
    says: /that of every runner has no beginning/,
  },
  {
    name: 'a receiver that is no web address',
    sql: "update push_config set url = 'file:///etc/passwd'",
    story: 'asking',
    rules: ['push-config'],
    says: /push config "hook" is for no web address/,
  },
  {
    name: 'a receiver without an id',
    sql: "update push_config set id = ''",
    story: 'asking',
    rules: ['push-config'],
  },
  {
    name: 'secrets of a receiver that cannot be read',
    sql: "update push_config set secrets = '{'",
    story: 'asking',
    rules: ['unreadable'],
    says: /the authentication of push config "hook"/,
  },
  {
    name: 'more receivers than a task may have',
    sql: `with recursive n (i) as (select 1 union all select i + 1 from n where i < 200)
      insert into push_config select :task, i, 'https://example.com', null, 5 from n`,
    story: 'artifacts',
    rules: ['push-config'],
    says: /there are 200 of them/,
  },
  {
    name: 'a token that has expired long ago',
    sql: "insert into credential values ('test', 'alice', 'hash', 5, null)",
    rules: ['credential'],
    says: /it has expired/,
  },
  {
    name: 'a token that is stored in clear',
    sql: "insert into credential values ('test', 'alice', 'hash', 9999999999999, 'eyJhbGciOi.eyJzdWIi.c2ln')",
    rules: ['credential'],
    says: /it is not sealed/,
  },
  {
    name: 'a token without its digest',
    sql: "insert into credential values ('test', 'alice', '', 9999999999999, 'a..b.c.d')",
    rules: ['credential'],
    says: /it has no digest/,
  },
  {
    name: 'a tenant that is neither there nor gone',
    sql: "update tenant set status = 'asleep' where id = 'rovo:paused'",
    rules: ['tenant'],
    says: /"rovo:paused" has status "asleep"/,
  },
  {
    name: 'a removed tenant that was never removed',
    sql: "update tenant set removed_at = null where id = 'rovo:gone'",
    rules: ['tenant'],
    says: /"rovo:gone" is removed and was never removed/,
  },
  {
    name: 'attributes of a tenant that cannot be read',
    sql: "update tenant set attributes = 'x' where id = 'rovo:paused'",
    rules: ['tenant'],
  },
  {
    name: 'an act was taken out of the audit',
    sql: 'delete from audit where pk = 1',
    rules: ['audit'],
    says: /row 2 comes after row 0/,
  },
  {
    name: 'an act that does not exist',
    sql: `${AUDIT_ROW} (5, 'erin', 'tenant.paint', 't', null, null, null, null)`,
    rules: ['audit'],
    says: /row 3 is of an act "tenant.paint"/,
  },
  {
    name: 'an act of nobody at no time',
    sql: `${AUDIT_ROW} (0, '', 'runner.pause', null, null, null, null, null)`,
    rules: ['audit'],
    says: /row 3 was done by nobody[\s\S]*row 3 has no time/,
  },
  {
    name: 'an act on nothing',
    sql: `${AUDIT_ROW} (5, 'erin', 'execution.retry', null, null, null, null, null)`,
    rules: ['audit'],
    says: /row 3 names no task/,
  },
  {
    name: 'an act that names a person in clear',
    sql: `${AUDIT_ROW} (5, 'erin', 'principal.erase', null, 'zoe@example.com', null, null, null)`,
    rules: ['audit'],
    says: /row 3 names a person in clear/,
  },
  {
    name: 'a detail of an act that cannot be read',
    sql: `${AUDIT_ROW} (5, 'erin', 'tenant.pause', 't', null, null, null, '{')`,
    rules: ['unreadable'],
    says: /the detail of audit row 3/,
  },
];

describe('verify', () => {
  it('names the rule and the place of what is wrong beside the tasks', (t) => findEach(t, CORRUPTIONS));
});
