/** What the stream holder is told. */
export interface HoldJob {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: readonly string[];
  /** In turn, one for each stream. */
  readonly bodies: readonly string[];
  readonly streams: number;
}

/** So far, over all streams. */
export interface HeldStreams {
  readonly events: number;
  readonly comments: number;
  readonly closed: number;
}
