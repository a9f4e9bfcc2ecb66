/*
 * A lane is what one tenant has waiting and running for one agent; the one without a tenant (`''`) is what all of the
 * agent have waiting. The claim goes by lanes and a full queue is refused by their counts, so neither ever looks at a
 * backlog. Triggers count, and nothing else does: they see what a foreign key deletes and what an older program writes,
 * which knows no lanes. `lane` of an execution may be null only while it is not open; a lane goes with the last owner
 * that it has.
 *
 * `served` numbers the claims: it is higher than that of every lane that was served before, and '' has the last. No time
 * of day, because a clock that was set back would make a tenant wait for it.
 *
 * What is small is in few trees on purpose: each is a page that a commit of a single task writes. Without execution_claim
 * an older program's claim walks the open turns; beside this one it runs for minutes.
 */
const LANE_OF_NEW = `(select l.pk from task t join owner w on w.pk = t.owner
    join lane l on l.tenant = w.tenant and l.agent = new.agent where t.pk = new.task)`;
const ENTER_LANE = `
  insert or ignore into lane (agent, tenant, waiting, running, served)
    select new.agent, w.tenant, 0, 0, 0 from task t join owner w on w.pk = t.owner where t.pk = new.task;
  update execution set lane = ${LANE_OF_NEW} where task = new.task and ordinal = new.ordinal;`;
const COUNT_NEW = `
  update lane set waiting = waiting + (new.lease_owner is null), running = running + (new.lease_owner is not null)
    where pk = new.lane;`;

export const LANES_UP = `
create table lane (
  pk integer primary key,
  agent text not null,
  tenant text not null,
  waiting integer not null,
  running integer not null,
  served integer not null,
  unique (agent, tenant)
) strict;
create index lane_next on lane (agent, running, served) where waiting > 0 and tenant <> '';

create trigger lane_made after insert on lane when new.tenant <> '' begin
  insert or ignore into lane (agent, tenant, waiting, running, served) values (new.agent, '', 0, 0, 0);
  update lane set waiting = waiting + new.waiting where agent = new.agent and tenant = '';
end;
create trigger lane_counted after update of waiting on lane when new.tenant <> '' and old.waiting <> new.waiting begin
  update lane set waiting = waiting + new.waiting - old.waiting where agent = new.agent and tenant = '';
end;
create trigger lane_gone after delete on lane when old.tenant <> '' begin
  update lane set waiting = waiting - old.waiting where agent = old.agent and tenant = '';
  delete from lane where agent = old.agent and tenant = ''
    and not exists (select 1 from lane l where l.agent = old.agent and l.tenant <> '');
end;
create trigger owner_gone after delete on owner begin
  delete from lane where agent = old.agent and tenant = old.tenant
    and not exists (select 1 from owner o where o.tenant = old.tenant and o.agent = old.agent);
end;

alter table execution add column lane integer;
insert into lane (agent, tenant, waiting, running, served)
  select e.agent, w.tenant, sum(e.lease_owner is null), sum(e.lease_owner is not null), 0
  from execution e join task t on t.pk = e.task join owner w on w.pk = t.owner
  where e.outcome = 'open' group by e.agent, w.tenant;
update execution set lane = (select l.pk from task t join owner w on w.pk = t.owner
    join lane l on l.tenant = w.tenant and l.agent = execution.agent where t.pk = execution.task)
  where outcome = 'open';

drop index execution_claim;
drop index execution_lease;
create index execution_lane on execution (lane, claimable_at) where outcome = 'open';
create index execution_leased on execution (lease_owner, claimable_at) where lease_owner is not null;

create trigger execution_opened after insert on execution when new.outcome = 'open' and new.lane is not null begin
  ${COUNT_NEW}
end;
create trigger execution_opened_without after insert on execution when new.outcome = 'open' and new.lane is null begin
  ${ENTER_LANE}
end;
create trigger execution_reopened_without after update of outcome on execution
  when new.outcome = 'open' and new.lane is null begin
  ${ENTER_LANE}
end;
create trigger execution_entered after update of lane on execution
  when new.outcome = 'open' and old.lane is null and new.lane is not null begin
  ${COUNT_NEW}
end;
create trigger execution_moved after update of outcome, lease_owner on execution
  when new.lane is not null and ((old.outcome = 'open') <> (new.outcome = 'open')
    or (old.lease_owner is null) <> (new.lease_owner is null)) begin
  update lane set
      waiting = waiting + (new.outcome = 'open' and new.lease_owner is null)
        - (old.outcome = 'open' and old.lease_owner is null),
      running = running + (new.outcome = 'open' and new.lease_owner is not null)
        - (old.outcome = 'open' and old.lease_owner is not null)
    where pk = new.lane;
end;
create trigger execution_gone after delete on execution when old.outcome = 'open' begin
  update lane set waiting = waiting - (old.lease_owner is null), running = running - (old.lease_owner is not null)
    where pk = old.lane;
end;
`;

export const LANES_DOWN = `
drop trigger execution_gone;
drop trigger execution_moved;
drop trigger execution_entered;
drop trigger execution_reopened_without;
drop trigger execution_opened_without;
drop trigger execution_opened;
drop trigger owner_gone;
drop index execution_leased;
drop index execution_lane;
alter table execution drop column lane;
drop table lane;
create index execution_claim on execution (agent, claimable_at) where outcome = 'open';
create index execution_lease on execution (lease_owner) where lease_owner is not null;
`;
