import BetterSqlite3 from 'better-sqlite3';
import type { DamageFacts } from '../../core/verify/stored-facts.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';

/* What is wrong with a database as a whole: pages, indices, schema, rows that belong to nothing, and counts. */

const SELECT_SCHEMA = "select type, name, sql from sqlite_schema where name not like 'sqlite\\_%' escape '\\'";
/** A context goes with its last task and an owner with its last context. */
const SELECT_EMPTY = `
  select 'context' as name, count(*) as count from context x where not exists (select 1 from task t where t.context = x.pk)
  union all
  select 'owner', count(*) from owner o where not exists (select 1 from context x where x.owner = o.pk)
  union all
  select 'lane', count(*) from lane l
    where l.tenant <> '' and not exists (select 1 from owner o where o.tenant = l.tenant and o.agent = l.agent)`;
/** The one of an agent that has no tenant is the sum of the others. */
const SELECT_MISCOUNTED = `
  select * from (
    select l.agent, l.tenant, l.waiting, l.running,
      count(e.task) filter (where e.lease_owner is null) as really_waiting,
      count(e.task) filter (where e.lease_owner is not null) as really_running
    from lane l left join execution e on e.lane = l.pk and e.outcome = 'open' where l.tenant <> '' group by l.pk
    union all
    select l.agent, l.tenant, l.waiting, l.running,
      (select coalesce(sum(o.waiting), 0) from lane o where o.agent = l.agent and o.tenant <> ''), 0
    from lane l where l.tenant = '')
  where waiting <> really_waiting or running <> really_running order by agent, tenant`;
const COUNT_ASTRAY = `select count(*) as count from execution e
  join task t on t.pk = e.task join owner w on w.pk = t.owner left join lane l on l.pk = e.lane
  where e.outcome = 'open' and l.tenant is not w.tenant`;
/** Of one broken reference this many keys are named. */
const NAMED_KEYS = 3;

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

interface ForeignKeyRow {
  readonly id: number;
  readonly seq: number;
  readonly table: string;
  readonly from: string;
  readonly to: string | null;
}

interface LaneRow {
  readonly agent: string;
  readonly tenant: string;
  readonly waiting: number;
  readonly running: number;
  readonly really_waiting: number;
  readonly really_running: number;
}

/** Pages, and whether every index agrees with its table. */
export function* integrityDamage(db: BetterSqlite3.Database): Generator<DamageFacts> {
  for (const row of db.pragma('integrity_check(20)') as { readonly integrity_check: string }[]) {
    if (row.integrity_check !== 'ok') yield { rule: 'integrity', detail: row.integrity_check.replaceAll('\n', ' ') };
  }
}

/** A dropped index takes a rule with it (one live task in an exclusive context), without a word from SQLite. */
export function* schemaDamage(db: BetterSqlite3.Database): Generator<DamageFacts> {
  const [{ newest }] = db.prepare<[], { newest: number }>('select max(version) as newest from migration').all() as [
    { newest: number },
  ];
  // A newer step that is not breaking may have changed what this program knows.
  if (MIGRATIONS.every(({ version }) => version < newest)) return;
  const fresh = new BetterSqlite3(':memory:');
  try {
    migrate(fresh, { now: 0 });
    const found = new Map(
      db
        .prepare<[], SchemaRow>(SELECT_SCHEMA)
        .all()
        .map(({ name, type, sql }) => [`${type} ${name}`, sql]),
    );
    for (const { type, name, sql } of fresh.prepare<[], SchemaRow>(SELECT_SCHEMA).all()) {
      const key = `${type} ${name}`;
      if (!found.has(key)) yield { rule: 'schema', detail: `${key} is missing` };
      else if (found.get(key) !== sql) yield { rule: 'schema', detail: `${key} is not as it was made` };
    }
  } finally {
    fresh.close();
  }
}

export function* orphanDamage(db: BetterSqlite3.Database): Generator<DamageFacts> {
  const broken = new Map<string, { table: string; parent: string; fkid: number; count: number }>();
  for (const { table, parent, fkid } of db
    .prepare<[], { table: string; parent: string; fkid: number }>('pragma foreign_key_check')
    .iterate()) {
    const key = `${table} ${fkid}`;
    const entry = broken.get(key) ?? { table, parent, fkid, count: 0 };
    broken.set(key, { ...entry, count: entry.count + 1 });
  }
  for (const { table, parent, fkid, count } of broken.values()) {
    const keys = missingKeys(db, { table, parent, fkid });
    yield { rule: 'orphan', detail: `table ${table}: ${rows(count)} of a missing ${parent} (pk ${keys})` };
  }
  for (const { name, count } of db.prepare<[], { name: string; count: number }>(SELECT_EMPTY).all()) {
    if (count > 0) yield { rule: 'orphan', detail: `table ${name}: ${rows(count)} without a task` };
  }
}

/** A turn that its lane does not count is not claimed, without a word from anybody. */
export function* laneDamage(db: BetterSqlite3.Database): Generator<DamageFacts> {
  for (const row of db.prepare<[], LaneRow>(SELECT_MISCOUNTED).all()) {
    const { agent, tenant, waiting, running, really_waiting, really_running } = row;
    const whose = tenant === '' ? 'all tenants' : `tenant ${JSON.stringify(tenant)}`;
    yield {
      rule: 'lane',
      detail:
        `${whose}, agent ${JSON.stringify(agent)}: counts ${waiting} waiting and ${running} running, ` +
        `there are ${really_waiting} and ${really_running}`,
    };
  }
  const count = db.prepare<[], { count: number }>(COUNT_ASTRAY).get()?.count ?? 0;
  if (count > 0) yield { rule: 'lane', detail: `table execution: ${rows(count)} to run in no lane of their tenant` };
}

function missingKeys(
  db: BetterSqlite3.Database,
  { table, parent, fkid }: { readonly table: string; readonly parent: string; readonly fkid: number },
): string {
  const keys = db.prepare<[string], ForeignKeyRow>('select * from pragma_foreign_key_list(?)').all(table);
  const key = keys.find(({ id, seq }) => id === fkid && seq === 0);
  if (!key) return 'unknown';
  const missing = db
    .prepare<[], { key: string | number }>(
      `select distinct c.${named(key.from)} as key from ${named(table)} c
        where c.${named(key.from)} is not null
          and not exists (select 1 from ${named(parent)} p where p.${named(key.to ?? 'pk')} = c.${named(key.from)})
        limit ${NAMED_KEYS + 1}`,
    )
    .all()
    .map((row) => String(row.key));
  return missing.length > NAMED_KEYS ? `${missing.slice(0, NAMED_KEYS).join(', ')}, …` : missing.join(', ');
}

function named(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

function rows(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`;
}
