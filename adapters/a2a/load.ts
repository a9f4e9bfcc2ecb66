import type { Telemetry } from '../../core/ports/telemetry.ts';

/** What one edge has at hand, over all its bindings. */
export interface Load {
  /** Requests, open streams among them. */
  inFlight(change: 1 | -1): number;
  openStreams(change: 1 | -1): void;
}

export function createLoad(telemetry: Telemetry, edge: string): Load {
  let inFlight = 0;
  let openStreams = 0;
  return {
    inFlight: (change) => {
      inFlight += change;
      return inFlight;
    },
    openStreams: (change) => {
      openStreams += change;
      telemetry.gauge('a2a_open_streams', openStreams, { edge });
    },
  };
}
