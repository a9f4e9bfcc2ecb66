import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../core/errors.ts';
import type { Edge, ProtocolVersion } from './edge.ts';
import { methodOf } from './methods.ts';

/*
 * Which protocol a call speaks (A2A 1.0, 3.6). The header wins over the query parameter, a patch number is ignored, and
 * a call that says nothing speaks the edge's default.
 */

const VERSION = /^(\d+\.\d+)(?:\.\d+)?$/;

/** Throws DomainError VERSION_NOT_SUPPORTED. `method`: of the call, whatever version it is of. */
export function negotiateVersion(
  edge: Edge,
  {
    headers,
    query,
    method,
  }: { readonly headers: IncomingHttpHeaders; readonly query: string; readonly method: string },
): ProtocolVersion {
  const asked = versionSaid(headers, query);
  const version = asked ?? unsaidVersion(edge, method);
  if ((version === '1.0' || version === '0.3') && edge.versions.includes(version)) return version;
  const served = `Supported A2A versions: ${edge.versions.join(', ')}`;
  if (version !== '0.3') throw new DomainError('VERSION_NOT_SUPPORTED', served);
  const said = asked === undefined ? 'A call without A2A-Version speaks 0.3. ' : '';
  throw new DomainError('VERSION_NOT_SUPPORTED', `${said}${served}. ${legacyHint(edge)}`);
}

function unsaidVersion(edge: Edge, method: string): ProtocolVersion {
  const { defaultVersion: version } = edge;
  const other = version === '1.0' ? '0.3' : '1.0';
  const isOther = edge.versionByMethod === true && methodOf(version, method) === undefined;
  return isOther && edge.versions.includes(other) && methodOf(other, method) !== undefined ? other : version;
}

/** What a caller has to do whose client and our edge speak different versions. */
export function legacyHint(edge: Edge): string {
  if (edge.legacyHint !== undefined) return edge.legacyHint;
  return edge.versions.includes('0.3')
    ? 'Send the header A2A-Version: 0.3.'
    : 'Send the header A2A-Version: 1.0 and speak 1.0, or have 0.3 added to A2A_VERSIONS.';
}

/** What a request says it speaks, as `Major.Minor`: undefined when it says nothing, '' when that is no version. */
export function versionSaid(headers: IncomingHttpHeaders, query: string): string | undefined {
  const header = String(headers['a2a-version'] ?? '').trim();
  const said = header === '' && query !== '' ? inQuery(query) : header;
  return said === '' ? undefined : (VERSION.exec(said)?.[1] ?? '');
}

/** Names of service parameters have no case (3.2.6), those of a query do. */
function inQuery(query: string): string {
  const asked = [...new URLSearchParams(query)].find(([name]) => name.toLowerCase() === 'a2a-version');
  return (asked?.[1] ?? '').trim();
}
