import { createForgeApp, newInstallationId } from '../simulator/forge/installation.ts';
import { mintInvocationToken } from '../simulator/forge/invocation-token.ts';
import { startJwksEndpoint } from '../simulator/forge/jwks-endpoint.ts';
import { createKeyRing } from '../simulator/forge/key-ring.ts';
import type { Door } from './operations.ts';

/** An Atlassian that signs invocation tokens for one person on one site. */
export interface Forge {
  /** What a service needs to trust it. */
  readonly env: Readonly<Record<string, string>>;
  /** Jira's door, with a token of its own for each request. */
  readonly door: Door;
  close(): Promise<void>;
}

/** The signatures of a wave are computed side by side, outside of the event loop. */
const WAVE = 64;
/** Tokens live 25 s. The round that they are for must be over by then: fewer tokens end it earlier. */
const MINT_MS = 8_000;

export async function startForge(): Promise<Forge> {
  const keyRing = await createKeyRing();
  const jwks = await startJwksEndpoint(keyRing);
  const app = createForgeApp();
  const apiBaseUrl = 'https://api.atlassian.com/ex/jira/99999999-8888-4777-8666-555555555555';
  const installation = {
    id: newInstallationId(),
    cloudId: '99999999-8888-4777-8666-555555555555',
    apiBaseUrl,
    siteUrl: 'https://bench.example',
    installerAccountId: '557058:00000000-0000-4000-8000-000000000001',
  };
  const subject = { app, installation, principal: '557058:00000000-0000-4000-8000-000000000002' };

  async function authorize(count: number): Promise<readonly string[]> {
    const headers: string[] = [];
    const until = performance.now() + MINT_MS;
    while (headers.length < count && performance.now() < until) {
      const wave = Array.from({ length: Math.min(WAVE, count - headers.length) }, () =>
        mintInvocationToken(keyRing, subject),
      );
      for (const token of await Promise.all(wave)) headers.push(`Authorization: Bearer ${token}`);
    }
    return headers;
  }

  return {
    env: { FORGE_APP_ID: app.ari, FORGE_JWKS_URL: jwks.url },
    door: { path: '/rovo/a2a', authorize },
    close: () => jwks.close(),
  };
}
