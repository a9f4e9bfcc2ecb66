/*
 * `due` is when a lane is next, in the numbers of `served`: each running turn counts as 32 claims. In one number, so that
 * claims of others count against running turns, and one index finds the first. It keeps its name, by which older programs
 * ask for it; they sort what it finds.
 */
export const DUE_UP = `
drop index lane_next;
alter table lane add column due integer not null as (served + 32 * running) virtual;
create index lane_next on lane (agent, due) where waiting > 0 and tenant <> '';
`;

export const DUE_DOWN = `
drop index lane_next;
alter table lane drop column due;
create index lane_next on lane (agent, running, served) where waiting > 0 and tenant <> '';
`;
