import type { ResultRow } from '../conformance/results-page.ts';
import type { Tested } from '../conformance/tested.ts';
import { CLIENTS } from './clients.ts';
import { faultOf, type Route, scenariosOf } from './scenarios.ts';

/*
 * What a run of the clients leaves in docs/conformance.md.
 */

export interface Sum {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface ClientAbout {
  readonly client: string;
  readonly version: string;
  readonly runtime: string;
}

const BINDINGS = { JSONRPC: 'JSON-RPC', 'HTTP+JSON': 'HTTP+JSON', GRPC: 'gRPC' } as const;
const EDGES = { a2a: '/a2a', rovo: '/rovo/a2a' } as const;

const placeOf = ({ protocol, binding, edge }: Route): readonly string[] => [protocol, BINDINGS[binding], EDGES[edge]];

/** A row of the table `client results`. */
export function clientRow(route: Route, about: ClientAbout & Tested, sum: Sum): ResultRow {
  const { client, version, runtime, date, node, sdk } = about;
  return [client, version, runtime, date, node, sdk, ...placeOf(route), sum.passed, sum.failed, sum.skipped];
}

/** The table `known faults of clients`. */
export function faultRows(): readonly ResultRow[] {
  return CLIENTS.flatMap(({ language, routes }) =>
    routes.flatMap((route) =>
      scenariosOf(route).flatMap(([name]) => {
        const cause = faultOf(language, route, name);
        return cause === undefined ? [] : [[language, ...placeOf(route), name, cause]];
      }),
    ),
  );
}
