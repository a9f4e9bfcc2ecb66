/*
 * The first attempt of a turn that begins in the commit that opens it is in the turn's own row: when that was opened, and who
 * has it. In `turn_attempt` it was a row and a page more for every message. Older programs write it there and find it in no
 * other place; operators' stories have it from `attempt` in either.
 */
export const BEGUN_UP = `
alter table execution add column begun_by text;
create view attempt as
  select task, ordinal, attempt, claimed_at, worker from turn_attempt
  union all
  select task, ordinal, 1, opened_at, begun_by from execution where begun_by is not null;
`;

export const BEGUN_DOWN = `
insert into turn_attempt select task, ordinal, 1, opened_at, begun_by from execution where begun_by is not null;
drop view attempt;
alter table execution drop column begun_by;
`;
