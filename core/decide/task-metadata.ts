import type { JsonObject } from '../message.ts';
import type { TaskRecord } from '../ports/task-store.ts';

/** Key of a task's metadata: the id of the failed task that an operator retried with this one. */
export const RETRY_OF = 'retryOf';

/**
 * The metadata of a task whose agent sets `said`: that takes the place of what the agent said before, but of nothing
 * that the service keeps there. Undefined: unchanged.
 */
export function nextMetadata(record: TaskRecord, said: JsonObject | undefined): JsonObject | undefined {
  if (!said) return undefined;
  const { [RETRY_OF]: _reserved, ...rest } = said;
  const retryOf = record.metadata?.[RETRY_OF];
  return retryOf === undefined ? rest : { ...rest, [RETRY_OF]: retryOf };
}
