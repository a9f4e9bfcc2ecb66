import type { Owner } from '../principal.ts';

/** A receiver that wants to hear of one task (A2A 1.0, 4.3.1). Its key is task and id. */
export interface PushConfig {
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  /** Both are the receiver's secrets: for deliveries alone, never in an answer or a log. */
  readonly token?: string;
  readonly authentication?: {
    /** As in an Authorization header. */
    readonly scheme: string;
    readonly credentials?: string;
  };
}

export interface PushConfigPage {
  /** By id. */
  readonly configs: readonly PushConfig[];
  readonly more: boolean;
}

/**
 * Receivers, kept as long as their task, also a finished one. All reject with TASK_NOT_FOUND when the owner has no such
 * task. A config that comes with a message is kept in the message's own commit (AcceptRequest).
 */
export interface PushConfigs {
  /** Replaces one with the same id. Rejects with INVALID_PARAMS beyond LIMITS.pushConfigsMax of one task. */
  put(owner: Owner, config: PushConfig): Promise<void>;
  get(owner: Owner, taskId: string, id: string): Promise<PushConfig | undefined>;
  /** `after`: id of the last one of the page before. */
  list(
    owner: Owner,
    taskId: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<PushConfigPage>;
  /** Idempotent. */
  remove(owner: Owner, taskId: string, id: string): Promise<void>;
}
