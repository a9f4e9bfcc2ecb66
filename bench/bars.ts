/** What a figure has to reach, as a remark to print behind it: `(bar: at least 5, met)`. */
export function atLeast(value: number, bar: number, unit = ''): string {
  return remark(value >= bar, `at least ${bar}${unit}`);
}

export function atMost(value: number, bar: number, unit = ''): string {
  return remark(value <= bar, `at most ${bar}${unit}`);
}

/** Of several ways to reach a bar one is enough. */
export function remark(met: boolean, bar: string): string {
  return `(bar: ${bar}, ${met ? 'met' : MISSED})`;
}

/** Stands in each line that tells of a bar that was not reached. */
export const MISSED = 'MISSED';
