import { cancelTask } from './cancel-task.ts';
import type { OperationDeps } from './deps.ts';
import { getTask } from './get-task.ts';
import { listTasks } from './list-tasks.ts';
import type { Operations } from './operations.ts';
import { renewUserToken } from './renew-user-token.ts';
import { sendMessage } from './send-message.ts';
import { sendStreamingMessage } from './send-streaming-message.ts';
import { subscribeToTask } from './subscribe-to-task.ts';

/** The operations over one store, as every binding calls them. */
export function createOperations(deps: OperationDeps): Operations {
  return {
    sendMessage: (edge, incoming, options, signal) => sendMessage(deps, edge, incoming, { options, signal }),
    sendStreamingMessage: (edge, incoming, signal) => sendStreamingMessage(deps, edge, incoming, { signal }),
    getTask: (caller, taskId, historyLength) => getTask(deps, caller, taskId, historyLength),
    listTasks: (caller, query) => listTasks(deps, caller, query),
    cancelTask: (caller, taskId) => cancelTask(deps, caller, taskId),
    subscribeToTask: (edge, caller, subscription, signal) =>
      subscribeToTask(deps, edge, caller, { ...subscription, signal }),
    renewUserToken: (caller) => renewUserToken(deps, caller),
  };
}
