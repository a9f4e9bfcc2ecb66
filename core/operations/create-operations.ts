import type { EdgeProfile, Incoming } from '../ports/edge.ts';
import type { Caller } from '../principal.ts';
import { callFields } from './call-fields.ts';
import { cancelTask } from './cancel-task.ts';
import type { OperationDeps } from './deps.ts';
import { getTask } from './get-task.ts';
import { listTasks } from './list-tasks.ts';
import type { Operations } from './operations.ts';
import { renewUserToken } from './renew-user-token.ts';
import { sendMessage } from './send-message.ts';
import { sendStreamingMessage } from './send-streaming-message.ts';
import { subscribeToTask } from './subscribe-to-task.ts';

interface Call {
  readonly caller: Caller;
  readonly edge?: EdgeProfile;
  readonly taskId?: string | undefined;
}

/** The operations over one store, as every binding calls them, each in a span of its own. */
export function createOperations(deps: OperationDeps): Operations {
  /** `work` gets the caller in the operation's own trace. */
  function operation<T>(name: string, call: Call, work: (caller: Caller) => Promise<T>): Promise<T> {
    const { caller, edge, taskId } = call;
    const fields = () => ({ ...callFields(caller, edge), taskId });
    return deps.telemetry.span(name, { parent: caller.trace, fields }, ({ traceparent }) =>
      work(traceparent === undefined ? caller : { ...caller, trace: traceparent }),
    );
  }
  const sending = (edge: EdgeProfile, { caller, message }: Incoming): Call => ({
    caller,
    edge,
    taskId: message.taskId,
  });

  return {
    sendMessage: (edge, incoming, options, signal) =>
      operation('SendMessage', sending(edge, incoming), (caller) =>
        sendMessage(deps, edge, from(incoming, caller), { options, signal }),
      ),
    sendStreamingMessage: (edge, incoming, signal) =>
      operation('SendStreamingMessage', sending(edge, incoming), (caller) =>
        sendStreamingMessage(deps, edge, from(incoming, caller), { signal }),
      ),
    getTask: (caller, taskId, historyLength) =>
      operation('GetTask', { caller, taskId }, () => getTask(deps, caller, taskId, historyLength)),
    listTasks: (caller, query) => operation('ListTasks', { caller }, () => listTasks(deps, caller, query)),
    cancelTask: (caller, taskId) =>
      operation('CancelTask', { caller, taskId }, (traced) => cancelTask(deps, traced, taskId)),
    subscribeToTask: (edge, caller, subscription, signal) =>
      operation('SubscribeToTask', { caller, edge, taskId: subscription.taskId }, () =>
        subscribeToTask(deps, edge, caller, { ...subscription, signal }),
      ),
    renewUserToken: (caller) => renewUserToken(deps, caller),
  };
}

/** The same message of the caller in another trace. */
function from(incoming: Incoming, caller: Caller): Incoming {
  return caller === incoming.caller ? incoming : { ...incoming, caller };
}
