import { OPS_TOKEN, type Running } from './target.ts';

/** One metric of the service, over all its labels. Undefined when it was not counted yet, and for a server without metrics. */
export async function metricOf({ host, port, isService }: Running, name: string): Promise<number | undefined> {
  if (!isService) return undefined;
  const response = await fetch(`http://${host}:${port}/metrics`, { headers: { Authorization: `Bearer ${OPS_TOKEN}` } });
  const lines = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm');
  const values = [...(await response.text()).matchAll(lines)].map(([, value]) => Number(value));
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}

export const COMMITS = 'a2a_store_commits_total';
