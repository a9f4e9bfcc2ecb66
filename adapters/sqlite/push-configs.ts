import { invalidParams, taskNotFound } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { PushConfig, PushConfigs } from '../../core/ports/push-configs.ts';
import type { Owner } from '../../core/principal.ts';
import type { Connection, Query } from './database.ts';
import type { GroupCommit } from './group-commit.ts';
import { LIMIT } from './limit.ts';
import { OWNER_PK, type OwnerValues, ownerValues } from './task-rows.ts';

const SELECT_TASK = `select pk from task where id = ? and owner = ${OWNER_PK}`;
const COUNT_OTHERS = 'select count(*) as n from push_config where task = ? and id <> ?';
const UPSERT_CONFIG = `insert into push_config (task, id, url, secrets, created_at) values (?, ?, ?, ?, ?)
  on conflict (task, id) do update set url = excluded.url, secrets = excluded.secrets`;
const SELECT_CONFIG = 'select id, url, secrets from push_config where task = ? and id = ?';
const SELECT_PAGE = `select id, url, secrets from push_config where task = ? and id > ? order by id ${LIMIT}`;
const DELETE_CONFIG = 'delete from push_config where task = ? and id = ?';

interface ConfigRow {
  readonly id: string;
  readonly url: string;
  readonly secrets: string | null;
}

type Keepable = Omit<PushConfig, 'taskId'>;

/** For transactions that hold the task already. */
export interface PushConfigRows {
  keep(task: number, config: Keepable, now: number): void;
}

export function createPushConfigRows(connection: Connection): PushConfigRows {
  const countOthers: Query<[task: number, id: string], { n: number }> = connection.prepare(COUNT_OTHERS);
  const upsert: Query<[task: number, id: string, url: string, secrets: string | null, createdAt: number], unknown> =
    connection.prepare(UPSERT_CONFIG);
  return {
    keep(task, { id, url, token, authentication }, now) {
      if ((countOthers.get(task, id)?.n ?? 0) >= LIMITS.pushConfigsMax) {
        throw invalidParams('taskId', `has ${LIMITS.pushConfigsMax} push notification configs already`);
      }
      const secrets = token === undefined && !authentication ? null : JSON.stringify({ token, authentication });
      upsert.run(task, id, url, secrets, now);
    },
  };
}

export function createPushConfigs(options: {
  readonly connection: Connection;
  readonly writes: GroupCommit;
  readonly rows: PushConfigRows;
}): PushConfigs {
  const { connection, writes, rows } = options;
  const selectTask: Query<[id: string, ...OwnerValues], { pk: number }> = connection.prepare(SELECT_TASK);
  const selectConfig: Query<[task: number, id: string], ConfigRow> = connection.prepare(SELECT_CONFIG);
  const selectPage: Query<[task: number, after: string, limit: number], ConfigRow> = connection.prepare(SELECT_PAGE);
  const deleteConfig: Query<[task: number, id: string], unknown> = connection.prepare(DELETE_CONFIG);

  function taskOf(owner: Owner, taskId: string): number {
    const pk = selectTask.get(taskId, ...ownerValues(owner))?.pk;
    if (pk === undefined) throw taskNotFound();
    return pk;
  }

  return {
    put: (owner, config) => writes.run(({ now }) => rows.keep(taskOf(owner, config.taskId), config, now)),
    get: async (owner, taskId, id) =>
      connection.snapshot(() => {
        const row = selectConfig.get(taskOf(owner, taskId), id);
        return row && toConfig(row, taskId);
      }),
    list: async (owner, taskId, { after = '', limit }) =>
      connection.snapshot(() => {
        const found = selectPage.all(taskOf(owner, taskId), after, limit + 1);
        return {
          configs: found.slice(0, limit).map((row) => toConfig(row, taskId)),
          more: found.length > limit,
        };
      }),
    remove: (owner, taskId, id) =>
      writes.run(() => {
        deleteConfig.run(taskOf(owner, taskId), id);
      }),
  };
}

function toConfig({ id, url, secrets }: ConfigRow, taskId: string): PushConfig {
  return { id, taskId, url, ...(secrets === null ? {} : (JSON.parse(secrets) as Partial<PushConfig>)) };
}
