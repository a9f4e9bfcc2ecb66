import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startIssuer } from '../e2e/issuer.ts';
import { launchService } from '../support/service-process.ts';
import { BINDINGS, type BindingName, type CallersName, SET_UPS, type SetUpName } from './set-ups.ts';

/** The shipped service with the scripted agent, in one set-up. */
export interface ConformanceService {
  readonly origin: string;
  /** Of callers who need one. */
  readonly token?: string;
  /** What it logged as an error. */
  errors(): readonly string[];
  close(): Promise<void>;
}

export interface ServiceWanted {
  readonly setUp: SetUpName;
  readonly callers: CallersName;
  readonly bindings: readonly BindingName[];
}

const AGENT = fileURLToPath(new URL('./scripted-agent.js', import.meta.url));

export async function startConformanceService({
  setUp,
  callers,
  bindings,
}: ServiceWanted): Promise<ConformanceService> {
  const directory = mkdtempSync(join(tmpdir(), 'connector-conformance-'));
  const issuer = callers === 'bearer' ? await startIssuer() : undefined;
  const service = launchService({
    directory,
    settings: {
      ...(issuer?.env ?? { A2A_AUTH: 'anonymous' }),
      ...Object.assign({}, ...bindings.map((name) => BINDINGS[name].settings)),
      ...SET_UPS[setUp].settings,
      AGENT: `module:${AGENT}`,
    },
  });
  const close = async () => {
    service.signal('SIGTERM');
    await service.exited();
    await issuer?.close();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await service.ready();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    origin: service.origin,
    ...(issuer && { token: await issuer.token('conformance-suite') }),
    errors: () =>
      service
        .log()
        .filter(({ level }) => level === 'error' || level === 'fatal')
        .map((line) => JSON.stringify(line)),
    close,
  };
}
