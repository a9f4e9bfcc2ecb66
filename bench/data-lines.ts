import { monotonicMs } from './monotonic.ts';

export interface DataLine {
  /** By the clock that processes share. */
  readonly arrivedAt: number;
  readonly json: string;
  /** SSE id of the event. */
  readonly id?: string;
}

/** The events of a stream as they arrive. */
export async function* dataLines(response: Response): AsyncGenerator<DataLine, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const arrivedAt = monotonicMs();
    const events = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const json = /^data: (.*)$/m.exec(event)?.[1];
      const id = /^id: (.*)$/m.exec(event)?.[1];
      if (json !== undefined) yield { arrivedAt, json, ...(id === undefined ? {} : { id }) };
    }
  }
}
