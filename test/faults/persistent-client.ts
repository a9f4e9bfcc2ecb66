import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { EventBody } from '../../core/event.ts';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import { isTerminal, type Task } from '../../simulator/client/a2a.ts';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import type { StreamOptions, StreamResult } from '../../simulator/client/streams.ts';
import { type MessageChanges, script } from '../e2e/world.ts';
import { applyEvent, EMPTY_VIEW, type ReaderView } from '../support/reader.ts';
import type { ServiceProcess } from '../support/service-process.ts';

/*
 * A client that does not give up: it sends again until it knows its task, and takes its stream up behind the last event
 * that it has. What it has seen over all connections must add up without a gap.
 */

export interface PersistentClient {
  /** The first connection, until it ends or breaks. */
  begin(service: ServiceProcess): Promise<void>;
  /** Goes on at the next process until the task has ended. Answers what it had to do first. */
  goOn(service: ServiceProcess): Promise<'sent again' | 'resumed' | 'read'>;
  /** Undefined until the service has told. */
  readonly taskId: string | undefined;
  /** What all connections together have shown. */
  readonly view: ReaderView;
  /** Sends the very same message, as a call. */
  repeat(service: ServiceProcess): Promise<Task>;
}

/** Of a client that is not authenticated, on `/a2a`. */
export async function startPlainClients(): Promise<{
  at(service: ServiceProcess): JiraClient;
  readonly atlassian: Atlassian;
  close(): Promise<void>;
}> {
  const atlassian = await startAtlassian();
  return {
    atlassian,
    at: (service) => atlassian.client({ url: `${service.origin}/a2a`, authorization: null, userToken: 'none' }),
    close: () => atlassian.close(),
  };
}

/** Longer than any trouble of these tests lasts on a busy machine. */
const STREAM_LIMIT_MS = 60_000;

export interface PersistentClientOptions {
  readonly at: (service: ServiceProcess) => JiraClient;
  readonly lines: readonly string[];
  readonly changes?: MessageChanges;
  /** The client has seen a frame. */
  readonly onFrame?: () => void;
}

export function createPersistentClient({ at, lines, changes, onFrame }: PersistentClientOptions): PersistentClient {
  const params = script(lines, { messageId: randomUUID(), ...changes });
  let view: ReaderView = EMPTY_VIEW;
  let taskId: string | undefined;
  let last: number | undefined;

  /** Frames of one connection, on top of what is known. */
  function take({ frames, faults, task, end }: StreamResult, resumed: boolean): void {
    // The simulator judges a connection by itself; one that begins behind an event has no Task frame.
    if (resumed) assert.ok(!frames.some(({ frame }) => frame.task), 'it goes on behind the last event');
    else {
      assert.deepEqual(faults, []);
      view = EMPTY_VIEW;
    }
    for (const [index, { frame, id }] of frames.entries()) {
      view = applyEvent(view, frame as EventBody);
      if (id === undefined) continue;
      // A stream that begins anew begins wherever its snapshot stands.
      if (resumed || index > 0) assert.equal(Number(id), (last ?? 0) + 1, 'a gap in the stream');
      last = Number(id);
    }
    taskId = taskId ?? task?.id ?? frames[0]?.frame.task?.id;
    assert.notEqual(end, 'limit', 'the stream hangs');
  }

  async function stream(open: (options: StreamOptions) => Promise<StreamResult>, resumed: boolean) {
    const more = resumed ? { headers: { 'last-event-id': String(last) } } : {};
    const result = await open({ limitMs: STREAM_LIMIT_MS, ...(onFrame ? { onFrame } : {}), ...more }).catch(
      () => undefined,
    );
    if (result?.streamed) take(result, resumed);
    return result;
  }

  const send = (service: ServiceProcess) =>
    stream((options) => at(service).streamRpc('SendStreamingMessage', params, options), false);

  return {
    get taskId() {
      return taskId;
    },
    get view() {
      return view;
    },
    begin: async (service) => void (await send(service)),
    async goOn(service) {
      const known = taskId;
      if (known === undefined || last === undefined) {
        const result = await send(service);
        assert.equal(result?.end, 'agent', `the repeated send is answered: ${result?.text}`);
        assert.ok(result?.streamed, result?.text);
        return 'sent again';
      }
      const result = await stream((options) => at(service).subscribe(known, options), true);
      assert.ok(result, 'the subscription is answered');
      if (result.streamed) {
        assert.equal(result.end, 'agent');
        return 'resumed';
      }
      assert.equal(result.error?.code, -32004, result.text);
      return 'read';
    },
    async repeat(service) {
      const { task, text, faults } = await at(service).rpc('SendMessage', params);
      assert.deepEqual(faults, []);
      assert.ok(task && isTerminal(task.status.state), text);
      return task;
    },
  };
}
