import type { JsonObject } from '../../core/message.ts';

/*
 * The routes of HTTP+JSON (A2A 1.0, 11.3), each also behind a tenant. A verb is told by its colon as it stands in the
 * path: an id that contains one comes with it escaped, and then it is part of the id. The specification's text says POST
 * for a subscription, its protobuf definition GET; both are served.
 */

export interface Route {
  /** The operation's name by HTTP method. */
  readonly operations: Readonly<Record<string, string>>;
  /** Fields of the request that the path names, decoded. */
  readonly fields: JsonObject;
}

const SUBSCRIBE = { POST: 'SubscribeToTask', GET: 'SubscribeToTask' };
const CONFIGS = { POST: 'CreateTaskPushNotificationConfig', GET: 'ListTaskPushNotificationConfigs' };
const CONFIG = { GET: 'GetTaskPushNotificationConfig', DELETE: 'DeleteTaskPushNotificationConfig' };

/** The first that matches counts. */
const ROUTES: readonly (readonly [RegExp, Readonly<Record<string, string>>])[] = [
  [/^\/message:send$/, { POST: 'SendMessage' }],
  [/^\/message:stream$/, { POST: 'SendStreamingMessage' }],
  [/^\/extendedAgentCard$/, { GET: 'GetExtendedAgentCard' }],
  [/^\/tasks$/, { GET: 'ListTasks' }],
  [/^\/tasks\/(?<id>[^/]+):cancel$/, { POST: 'CancelTask' }],
  [/^\/tasks\/(?<id>[^/]+):subscribe$/, SUBSCRIBE],
  [/^\/tasks\/(?<id>[^/]+)$/, { GET: 'GetTask' }],
  [/^\/tasks\/(?<taskId>[^/]+)\/pushNotificationConfigs$/, CONFIGS],
  [/^\/tasks\/(?<taskId>[^/]+)\/pushNotificationConfigs\/(?<id>[^/]+)$/, CONFIG],
];
const TENANT = /^\/(?<tenant>[^/]+)(?<rest>\/.+)$/;

/** `path` as it came, below the binding's own. Undefined: no route, or an escape that is none. */
export function routeOf(path: string): Route | undefined {
  const own = matching(path);
  if (own !== undefined) return own;
  const { tenant, rest } = TENANT.exec(path)?.groups ?? {};
  return rest === undefined ? undefined : matching(rest, { tenant });
}

function matching(path: string, outer: Readonly<Record<string, string | undefined>> = {}): Route | undefined {
  for (const [pattern, operations] of ROUTES) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const fields = decoded({ ...outer, ...match.groups });
    return fields && { operations, fields };
  }
  return undefined;
}

function decoded(groups: Readonly<Record<string, string | undefined>>): JsonObject | undefined {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, text = '']) => [name, decodeURIComponent(text)]));
  } catch {
    return undefined;
  }
}
