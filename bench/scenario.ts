/** Prints its lines as it goes and answers the figures that a later run may be compared with. */
export type Scenario = (print: (line: string) => void) => Promise<Readonly<Record<string, number>>>;
