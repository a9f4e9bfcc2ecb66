import { serverInfoPath } from './api-url.ts';
import { createReader, type JiraOptions } from './reader.ts';

/** The site's own URL, as Jira tells it; undefined when it tells none. Rejects like every call of the Jira port. */
export async function readSiteUrl(options: JiraOptions): Promise<string | undefined> {
  const body = await createReader(options)('serverInfo', serverInfoPath());
  const url = typeof body === 'object' && body !== null && 'baseUrl' in body ? body.baseUrl : undefined;
  return typeof url === 'string' && url.startsWith('https://') && url.length <= 1_000 ? url : undefined;
}
