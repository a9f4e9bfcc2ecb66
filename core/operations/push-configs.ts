import { DomainError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { Ids } from '../ports/clock.ts';
import type { PushConfig, PushConfigs } from '../ports/push-configs.ts';
import type { Caller } from '../principal.ts';

export interface PushConfigQuery {
  readonly taskId: string;
  /** 1..100; default LIMITS.listDefault. */
  readonly pageSize?: number;
  /** Id of the last config of the page before. */
  readonly after?: string;
}

/** Operations on receivers (A2A 1.0, 3.1.7 to 3.1.10). A foreign task and a missing one reject alike. */
export interface PushOperations {
  /** Answers it as it is kept, with an id of ours when it brought none. */
  create(caller: Caller, config: Omit<PushConfig, 'id'> & { readonly id?: string }): Promise<PushConfig>;
  /** Rejects with TASK_NOT_FOUND when there is no such config. Without an id: the first one. */
  get(caller: Caller, taskId: string, id?: string): Promise<PushConfig>;
  /** `next`: what to go on with; absent on the last page. */
  list(
    caller: Caller,
    query: PushConfigQuery,
  ): Promise<{ readonly configs: readonly PushConfig[]; readonly next?: string }>;
  /** Idempotent. */
  remove(caller: Caller, taskId: string, id: string): Promise<void>;
}

export function createPushOperations(deps: { readonly configs: PushConfigs; readonly ids: Ids }): PushOperations {
  const { configs, ids } = deps;
  return {
    async create({ owner }, config) {
      const kept = { ...config, id: config.id ?? ids.next() };
      await configs.put(owner, kept);
      return kept;
    },
    async get({ owner }, taskId, id) {
      const found =
        id === undefined
          ? (await configs.list(owner, taskId, { limit: 1 })).configs[0]
          : await configs.get(owner, taskId, id);
      if (!found) throw new DomainError('TASK_NOT_FOUND', 'Push notification config not found');
      return found;
    },
    async list({ owner }, { taskId, pageSize = LIMITS.listDefault, after }) {
      const page = await configs.list(owner, taskId, {
        limit: pageSize,
        ...(after === undefined ? {} : { after }),
      });
      const last = page.configs.at(-1);
      return { configs: page.configs, ...(page.more && last ? { next: last.id } : {}) };
    },
    remove: ({ owner }, taskId, id) => configs.remove(owner, taskId, id),
  };
}
