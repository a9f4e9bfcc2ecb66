import type { Running } from './target.ts';

/* The calls that are measured, on either edge: what they say, and the tasks that those which read need. */

/** Where and as whom one calls. */
export interface Door {
  readonly path: '/a2a' | '/rovo/a2a';
  /** Headers for that many requests, one each and none to be used twice. Absent: anybody may call. */
  readonly authorize?: (count: number) => Promise<readonly string[]>;
}

export const ANONYMOUS: Door = { path: '/a2a' };

const PREPARED = 500;
const PAGE = 50;
const AT_ONCE = 16;

export function rpc(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

export function sendBody(
  method: 'SendMessage' | 'SendStreamingMessage',
  { text = 'hello', returnImmediately = false }: { readonly text?: string; readonly returnImmediately?: boolean } = {},
): string {
  const message = { messageId: 'm-{n}', role: 'ROLE_USER', parts: [{ text }] };
  return rpc(method, { message, configuration: { returnImmediately } });
}

export async function post(running: Running, door: Door, body: string): Promise<Response> {
  const [line] = (await door.authorize?.(1)) ?? [];
  const [, authorization] = line?.split(': ') ?? [];
  return fetch(`http://${running.host}:${running.port}${door.path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'A2A-Version': '1.0',
      ...(authorization ? { Authorization: authorization } : {}),
    },
    body,
  });
}

/** The result of one call; rejects with the answer when there is none. */
export async function call(running: Running, door: Door, body: string): Promise<Record<string, unknown>> {
  const answer = (await (await post(running, door, body)).json()) as { readonly result?: Record<string, unknown> };
  if (!answer.result) throw new Error(`no result: ${JSON.stringify(answer)}`);
  return answer.result;
}

/** Tasks to read, made before the clock runs. */
async function prepareTasks(running: Running, door: Door): Promise<readonly string[]> {
  const template = sendBody('SendMessage');
  const ids: string[] = [];
  for (let index = 0; index < PREPARED; index += AT_ONCE) {
    const wave = Array.from({ length: AT_ONCE }, (_, offset) =>
      call(running, door, template.replace('{n}', `prepared-${index + offset}`)),
    );
    for (const result of await Promise.all(wave)) {
      const { id, task } = result as { readonly id?: string; readonly task?: { readonly id: string } };
      ids.push(task?.id ?? id ?? '');
    }
  }
  return ids;
}

/** Bodies that the generator sends in turn. */
export type Bodies = (running: Running, door: Door) => Promise<readonly string[]>;

const always =
  (body: string): Bodies =>
  async () => [body];

export const BODIES = {
  send: always(sendBody('SendMessage')),
  accept: always(sendBody('SendMessage', { returnImmediately: true })),
  get: async (running, door) => (await prepareTasks(running, door)).map((id) => rpc('GetTask', { id })),
  list: async (running, door) => {
    await prepareTasks(running, door);
    return [rpc('ListTasks', { pageSize: PAGE })];
  },
  stream: always(sendBody('SendStreamingMessage')),
} as const satisfies Readonly<Record<string, Bodies>>;
