import type { z } from 'zod';
import type { ProtocolVersion } from './edge.ts';
import {
  legacyGetParams,
  legacyPushDeleteParams,
  legacyPushGetParams,
  legacyPushSetParams,
  legacySendParams,
  legacyTaskParams,
} from './legacy-params.ts';
import {
  anyParams,
  cancelTaskParams,
  createPushConfigParams,
  getTaskParams,
  listPushConfigsParams,
  listTasksParams,
  pushConfigParams,
  sendMessageParams,
  subscribeToTaskParams,
} from './params.ts';

export interface Method {
  readonly params: z.ZodType;
  /** Answered with an event stream. */
  readonly streams?: true;
  /** Is about push notification configs. */
  readonly pushes?: true;
  /** A call may leave its params out. */
  readonly paramsOptional?: true;
}

const METHODS = {
  '1.0': {
    SendMessage: { params: sendMessageParams },
    SendStreamingMessage: { params: sendMessageParams, streams: true },
    GetTask: { params: getTaskParams },
    ListTasks: { params: listTasksParams, paramsOptional: true },
    CancelTask: { params: cancelTaskParams },
    SubscribeToTask: { params: subscribeToTaskParams, streams: true },
    CreateTaskPushNotificationConfig: { params: createPushConfigParams, pushes: true },
    GetTaskPushNotificationConfig: { params: pushConfigParams, pushes: true },
    ListTaskPushNotificationConfigs: { params: listPushConfigsParams, pushes: true },
    DeleteTaskPushNotificationConfig: { params: pushConfigParams, pushes: true },
    GetExtendedAgentCard: { params: anyParams, paramsOptional: true },
  },
  '0.3': {
    'message/send': { params: legacySendParams },
    'message/stream': { params: legacySendParams, streams: true },
    'tasks/get': { params: legacyGetParams },
    'tasks/cancel': { params: legacyTaskParams },
    'tasks/resubscribe': { params: legacyTaskParams, streams: true },
    'tasks/pushNotificationConfig/set': { params: legacyPushSetParams, pushes: true },
    'tasks/pushNotificationConfig/get': { params: legacyPushGetParams, pushes: true },
    'tasks/pushNotificationConfig/list': { params: legacyTaskParams, pushes: true },
    'tasks/pushNotificationConfig/delete': { params: legacyPushDeleteParams, pushes: true },
    'agent/getAuthenticatedExtendedCard': { params: anyParams, paramsOptional: true },
  },
} as const satisfies Record<ProtocolVersion, Record<string, Method>>;

const BY_NAME = {
  '1.0': new Map<string, Method>(Object.entries(METHODS['1.0'])),
  '0.3': new Map<string, Method>(Object.entries(METHODS['0.3'])),
};

export function methodOf(version: ProtocolVersion, name: string): Method | undefined {
  return BY_NAME[version].get(name);
}
