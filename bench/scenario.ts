import type { BenchOptions } from './options.ts';

/** Named figures of one scenario, medians over its rounds, for `--save` and `--against`. */
export type Figures = Readonly<Record<string, number>>;

export type Print = (line: string) => void;

/** Prints its lines as it goes and answers the figures that a later run may be compared with. */
export type Scenario = (print: Print, options: BenchOptions) => Promise<Figures>;
