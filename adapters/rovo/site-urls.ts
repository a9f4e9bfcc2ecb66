const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** An absolute URL over https, or http on loopback, without credentials; undefined for everything else. */
export function safeUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  return secure && url.username === '' && url.password === '' ? url : undefined;
}

/** Host and port as far as the text is a URL, for a log: never the credentials or the path in it. */
export function hostOf(text: string): string {
  return URL.canParse(text) ? new URL(text).host : '';
}

/**
 * The base of Jira's REST API without a slash at its end, when its host is allowed. `hosts` are names (`api.example`,
 * default port only, any port on loopback) or names with a port.
 */
export function allowedApiBase(text: string, hosts: readonly string[]): string | undefined {
  const url = safeUrl(text);
  if (url === undefined || url.search !== '' || url.hash !== '') return undefined;
  const allowed = hosts.some((entry) => {
    const host = entry.trim().toLowerCase();
    return host === url.host || (host === url.hostname && LOOPBACK.has(url.hostname));
  });
  return allowed ? (url.origin + url.pathname).replace(/\/+$/, '') : undefined;
}
