import { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Binding, CallRequest, Exchange, Failure, JsonReply, RequestHead, StreamReply } from './binding.ts';
import { A2A_JSON, JSON_TYPE, mediaTypeOf, unreadableBody } from './body-type.ts';
import type { Edge } from './edge.ts';
import { protocolError, retryHeader, severityOf, type WireError, wireError } from './error-table.ts';
import type { StreamFrame, StreamSource } from './event-stream.ts';
import { bodyParams, queryParams, withPathFields } from './http-json-params.ts';
import { type Route, routeOf } from './http-json-routes.ts';
import { methodOf } from './methods.ts';
import type { Perform, ResultStream, StreamResult } from './perform.ts';
import { negotiateVersion } from './version.ts';

/*
 * HTTP+JSON (A2A 1.0, 11): paths and verbs instead of an envelope, errors as google.rpc.Status with their HTTP status,
 * bare StreamResponses on a stream. The call behind it is the one that JSON-RPC makes.
 */

export function createHttpJsonBinding(options: {
  /** Everything below it is this binding's. */
  readonly path: string;
  readonly edge: Edge;
  readonly perform: Perform;
  readonly telemetry: Telemetry;
}): Binding {
  const { path, perform, telemetry } = options;
  // 0.3 had other paths and bodies, and no client of it reads our card's interface.
  const legacyHint = 'HTTP+JSON is served for 1.0 only: send the header A2A-Version: 1.0.';
  const edge: Edge = { ...options.edge, versions: ['1.0'], legacyHint };

  async function performCall(head: RequestHead, route: Route, request: CallRequest): Promise<JsonReply | StreamReply> {
    const type = answerType(head.headers);
    const name = route.operations[head.method] ?? '';
    const failure = (error: unknown): Failure => {
      const severity = severityOf(error);
      if (severity !== undefined) telemetry.event(severity, 'request.failed', { edge: edge.name, method: name }, error);
      return refused(wireError(error), type);
    };
    try {
      const version = negotiateVersion(edge, { ...head, method: name });
      const method = methodOf(version, name);
      if (method === undefined) throw new TypeError(`a route to ${name}`);
      const said = head.method === 'POST' ? bodyParams(request.body) : { params: queryParams(head.query) };
      if ('refused' in said) return { ...refused(said.refused, type), method: name };
      const { session, life, place } = request;
      const params = withPathFields(said.params, route.fields);
      const answer = await perform({ session, version, name, method, params, headers: head.headers, life, place });
      if ('results' in answer) {
        return { frames: framesOf(answer.results), method: name, failure };
      }
      // google.protobuf.Empty is an empty object.
      const json = JSON.stringify(answer.result ?? {});
      place.holdAnswer(Buffer.byteLength(json));
      return { answer: { status: 200, json, type }, method: name, outcome: 'ok' };
    } catch (error) {
      return { ...failure(error), method: name };
    }
  }

  return {
    open(head): Exchange | undefined {
      if (head.path !== path && !head.path.startsWith(`${path}/`)) return undefined;
      const type = answerType(head.headers);
      const route = routeOf(head.path.slice(path.length).replace(/\/$/, ''));
      const wrong = wrongLine(route, head.method);
      return {
        ...(wrong && { refused: wrong }),
        refusal: (error) => refused(error, type).answer,
        unreadable: (body) =>
          head.method !== 'POST' || body.length === 0 ? undefined : unreadableBody(head.headers, [JSON_TYPE, A2A_JSON]),
        perform: (request) => performCall(head, route ?? { operations: {}, fields: {} }, request),
      };
    },
  };
}

function framesOf(results: ResultStream): StreamSource {
  const frameOf = ({ result, sequence }: StreamResult): StreamFrame => ({ json: JSON.stringify(result), sequence });
  return {
    next: () => results.next().then((step) => step && frameOf(step)),
    ready: () => {
      const step = results.ready();
      return typeof step === 'object' ? frameOf(step) : step;
    },
    close: results.close,
  };
}

function wrongLine(route: Route | undefined, method: string): Exchange['refused'] {
  if (route === undefined) return { error: protocolError('METHOD_NOT_FOUND', 'There is nothing at this path') };
  if (Object.hasOwn(route.operations, method)) return undefined;
  const allowed = Object.keys(route.operations).join(', ');
  return {
    error: protocolError('METHOD_NOT_ALLOWED', `This path takes ${allowed}`),
    headers: { Allow: allowed },
  };
}

function refused(error: WireError, type: string): Failure {
  const { http: code, grpc: status, message, details } = error;
  const json = JSON.stringify({ error: { code, status, message, details } });
  return {
    answer: { status: code, json, type, headers: retryHeader(error) },
    outcome: String(error.jsonRpc),
    // A StreamResponse has no place for an error.
    event: 'error',
  };
}

/** What the request came in or, without a body, would rather have. */
function answerType(headers: IncomingHttpHeaders): string {
  const own = mediaTypeOf(headers['content-type']);
  if (own === A2A_JSON || own === JSON_TYPE) return own;
  const wanted = (headers.accept ?? '').split(',').map((range) => mediaTypeOf(range));
  return wanted.includes(A2A_JSON) && !wanted.includes(JSON_TYPE) ? A2A_JSON : JSON_TYPE;
}
