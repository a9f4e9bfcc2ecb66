/** Of one run: how long each measurement takes and how often it is repeated, in turn with the others. */
export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** Of the flood, which has to last. */
  readonly floodSeconds: number;
  readonly concurrencies: readonly number[];
}
