import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Atlassian, startAtlassian } from '../../simulator/atlassian.ts';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import { launchService, type ServiceProcess } from '../support/service-process.ts';
import { type Issuer, startIssuer, type TokenChanges } from './issuer.ts';
import { type Outside, startOutside } from './outside.ts';

/*
 * The real service between everything it talks to: an Atlassian that calls it and is called by it, an identity provider
 * for `/a2a`, and what its agent does elsewhere. Each a real server on a free port.
 */

export interface WorldOptions {
  readonly agent: 'rerun' | 'review' | 'brief';
  readonly settings?: Readonly<Record<string, string>>;
  readonly timeScale?: number;
  /** Modules that are loaded before the program, as `node --import` does. */
  readonly preload?: readonly string[];
  /** Is a process started at once? Default: yes. */
  readonly started?: boolean;
}

export interface World {
  readonly atlassian: Atlassian;
  readonly outside: Outside;
  readonly issuer: Issuer;
  /** Working directory of the processes; the database is in it. */
  readonly directory: string;
  /** The first process. */
  service(): ServiceProcess;
  /** One more process on the same database. */
  start(settings?: Readonly<Record<string, string>>): Promise<ServiceProcess>;
  /** The same that may well end by itself. */
  launch(settings?: Readonly<Record<string, string>>): ServiceProcess;
  /** Jira, calling the first process unless told. */
  jira(service?: ServiceProcess): JiraClient;
  /** Somebody with a token of the issuer at `/a2a`, reading just as strictly. */
  a2a(subject: string, options?: TokenChanges & { readonly service?: ServiceProcess }): Promise<JiraClient>;
  /** Everything that its processes wrote. */
  output(): string;
  close(): Promise<void>;
}

/** What AGENT says for one of our agents. */
export function agentSource(agent: WorldOptions['agent']): string {
  return agent === 'brief' ? agent : `module:${fileURLToPath(new URL(`./agents/${agent}.js`, import.meta.url))}`;
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const [atlassian, outside, issuer] = await Promise.all([
    startAtlassian({ timeScale: options.timeScale ?? 1 }),
    startOutside(),
    startIssuer(),
  ]);
  const directory = mkdtempSync(join(tmpdir(), 'connector-e2e-'));
  const processes: ServiceProcess[] = [];
  const settings = {
    ...atlassian.env,
    ...issuer.env,
    AGENT: agentSource(options.agent),
    OUTSIDE_URL: outside.url,
    ...options.settings,
  };

  const world: World = {
    ...{ atlassian, outside, issuer, directory },
    service() {
      const [first] = processes;
      if (!first) throw new Error('no service was started');
      return first;
    },
    launch(more = {}) {
      const preload = options.preload ?? [];
      const service = launchService({ directory, preload, settings: { ...settings, ...more } });
      processes.push(service);
      return service;
    },
    async start(more) {
      const service = world.launch(more);
      await service.ready();
      return service;
    },
    jira: (service = world.service()) => atlassian.client({ url: `${service.origin}/rovo/a2a` }),
    async a2a(subject, { service = world.service(), ...changes } = {}) {
      return atlassian.client({
        url: `${service.origin}/a2a`,
        authorization: `Bearer ${await issuer.token(subject, changes)}`,
        userToken: 'none',
      });
    },
    output: () => processes.map((service) => service.output()).join('\n'),
    async close() {
      for (const service of processes) service.signal('SIGKILL');
      await Promise.all([
        ...processes.map((service) => service.exited()),
        atlassian.close(),
        outside.close(),
        issuer.close(),
      ]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
  if (options.started === false) return world;
  await world.start().catch(async (error: unknown) => {
    // Servers that stay open would keep a test file alive whose service did not start.
    await world.close();
    throw error;
  });
  return world;
}

export interface MessageChanges {
  readonly messageId?: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly returnImmediately?: boolean;
  readonly historyLength?: number;
}

/** Params of SendMessage and SendStreamingMessage at `/a2a`. The lines are the agent's script. */
export function script(lines: readonly string[], changes: MessageChanges = {}) {
  const { returnImmediately, historyLength, ...ids } = changes;
  return {
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: lines.join('\n') }], ...ids },
    // What is undefined is not in the JSON.
    configuration: { returnImmediately, historyLength },
  };
}
