import { BlockList, isIP } from 'node:net';

/*
 * Where a push notification may go, judged by what the URL says and without asking DNS: names are judged when they are
 * connected to. Addresses that mean this machine or its neighbourhood would let a caller reach what it cannot
 * (A2A 1.0, 13.2), and credentials go over https only.
 */

const MAX_URL_CHARS = 2_048;

/** One list for each family: in a common one an IPv4 address also counts as the IPv6 address that embeds it. */
const INNER_IPV4 = new BlockList();
const INNER_IPV6 = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  INNER_IPV4.addSubnet(network, bits, 'ipv4');
}
/** Everything outside 2000::/3 is private, local, multicast or not given out; the rest hold IPv4 addresses or examples. */
for (const [network, bits] of [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  INNER_IPV6.addSubnet(network, bits, 'ipv6');
}

export interface DestinationRules {
  /** `host` or `host:port`, lower case: exempt from the rules about addresses and https. For receivers on one's own machine. */
  readonly allowedHosts: readonly string[];
}

/** Why the URL is no destination, as the end of a sentence about it; undefined: it may be one. */
export function destinationFault(text: string, { allowedHosts }: DestinationRules): string | undefined {
  if (text.length > MAX_URL_CHARS) return `must be at most ${MAX_URL_CHARS} characters`;
  if (!URL.canParse(text)) return 'must be a URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL';
  if (url.username !== '' || url.password !== '') return 'must not name a user';
  if (allowedHosts.includes(url.host) || allowedHosts.includes(url.hostname)) return undefined;
  if (url.protocol !== 'https:') return 'must be an https URL';
  return isInner(url.hostname) ? 'must not lead to a private address' : undefined;
}

/** URL has written every spelling of an IPv4 address as four decimal numbers already. */
function isInner(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const family = isIP(name);
  if (family === 0) return name === 'localhost' || name.endsWith('.localhost') || !name.includes('.');
  return family === 4 ? INNER_IPV4.check(name, 'ipv4') : INNER_IPV6.check(name, 'ipv6');
}
