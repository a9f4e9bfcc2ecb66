import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startAtlassian } from '../../simulator/atlassian.ts';
import { assignmentParams } from '../../simulator/client/messages.ts';
import { AGENT_ACCOUNT } from '../../simulator/site/people.ts';
import { startIssuer } from '../e2e/issuer.ts';
import { launchService } from '../support/service-process.ts';
import { largeFingerprint } from './large-text.ts';
import { type ClientInput, type EdgeName, type Route, scenariosOf } from './scenarios.ts';

/** The shipped service with both edges on, and everything that a client of either has to be handed. */
export interface Stage {
  /** `play` tells the calls of one client on one route from all others. */
  input(route: Route, play: string): ClientInput;
  /** How many calls of that play were given headers. */
  headersGiven(play: string): number;
  /** What the service complained about in its log. */
  complaints(): readonly string[];
  close(): Promise<void>;
}

const AGENT = fileURLToPath(new URL('./agent.js', import.meta.url));
const CARD_PATH = '/.well-known/agent-card.json';
/** Short, so that SendMessage on Jira's edge answers a task that still works. */
const ROVO_WAIT_MS = '300';
const WORK_ITEM = 'SHOP-1';

export async function setStage(): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'connector-interop-'));
  const atlassian = await startAtlassian();
  const issuer = await startIssuer();
  const service = launchService({
    directory,
    settings: {
      ...{ ...atlassian.env, ...issuer.env, AGENT: `module:${AGENT}` },
      ...{ ROVO_WAIT_MS, GRPC_PORT: '0', LOG_LEVEL: 'info' },
    },
  });
  await service.ready();
  const given = new Map<string, number>();

  const headers = async (edge: EdgeName, play: string): Promise<Record<string, string>> => {
    given.set(play, (given.get(play) ?? 0) + 1);
    if (edge === 'a2a') return { authorization: `Bearer ${await issuer.token('ada')}` };
    return {
      authorization: `Bearer ${await atlassian.mint()}`,
      'x-forge-oauth-user': atlassian.site.currentToken('alice'),
    };
  };
  /** Jira is configured with an address and reads no card; clients that insist on one are handed this. */
  const rovoCard = async (): Promise<object> => {
    const card = (await (await fetch(`${service.origin}${CARD_PATH}`)).json()) as object;
    const supportedInterfaces = [
      { url: `${service.origin}/rovo/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ];
    return { ...card, supportedInterfaces };
  };

  async function answer(path: string): Promise<object> {
    const [, edge, play = ''] = /^\/headers\/(a2a|rovo)\/(.+)$/.exec(path) ?? [];
    return edge === undefined ? rovoCard() : headers(edge as EdgeName, play);
  }

  const desk = createServer((request, response) => {
    answer(request.url ?? '').then(
      (value) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  desk.listen(0, '127.0.0.1');
  await once(desk, 'listening');
  const origin = `http://127.0.0.1:${(desk.address() as AddressInfo).port}`;
  const { records } = atlassian.site;
  const item = records.item(WORK_ITEM);
  if (!item) throw new Error(`the site has no ${WORK_ITEM}`);
  const { message } = assignmentParams({ user: records.person('alice'), agent: AGENT_ACCOUNT, item });
  const assignment = message.parts.flatMap((part) => ('data' in part ? [part.data] : []))[0] ?? null;

  return {
    input: (route, play) => ({
      edge: route.edge,
      binding: route.binding,
      cardBase: route.edge === 'a2a' ? service.origin : origin,
      headersUrl: `${origin}/headers/${route.edge}/${play}`,
      scenarios: scenariosOf(route).map(([name]) => name),
      data: route.edge === 'rovo' ? (assignment as ClientInput['data']) : null,
      large: largeFingerprint(),
    }),
    headersGiven: (play) => given.get(play) ?? 0,
    complaints: () =>
      service
        .log()
        .filter(({ level }) => level !== 'info')
        .map((line) => JSON.stringify(line)),
    async close() {
      service.signal('SIGTERM');
      await service.exited();
      desk.close();
      desk.closeAllConnections();
      await issuer.close();
      await atlassian.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
