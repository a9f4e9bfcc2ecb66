import { z } from 'zod';
import { environmentUuid, installationUuid, parseForgeAppId } from './forge-ids.ts';
import { remembered } from './remembered.ts';
import { safeUrl } from './site-urls.ts';

/** What a verified invocation token says, ids bare, everything that may be missing optional. */
export interface InvocationClaims {
  readonly jti: string;
  /** Bare uuid. */
  readonly installationId: string;
  /** Atlassian account id of the invoking user. Lifecycle calls may have none. */
  readonly principal?: string;
  readonly module: { readonly type?: string; readonly key?: string };
  /** As claimed: not checked against the allow-list yet. */
  readonly apiBaseUrl?: string;
  /** Origin of the Jira site. */
  readonly siteUrl?: string;
  readonly cloudId?: string;
  /** Bare uuid. */
  readonly environmentId?: string;
}

const id = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{Cc}\s]+$/u);
/** Not needed to trust the call: a shape that changes must not lock sites out. */
const lenient = z.string().min(1).max(2_048).optional().catch(undefined);

const schema = z.object({
  jti: id,
  principal: id.nullish(),
  app: z.object({
    id: z.string().max(256),
    installationId: z.string().max(256),
    apiBaseUrl: lenient,
    environment: z.object({ id: lenient }).optional().catch(undefined),
    module: z.object({ type: lenient, key: lenient }).optional().catch(undefined),
  }),
  context: z.object({ cloudId: lenient, siteUrl: lenient, moduleKey: lenient }).optional().catch(undefined),
});

function defined<T extends Record<string, string | undefined>>(values: T): { [K in keyof T]?: string } {
  const present: { [K in keyof T]?: string } = {};
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) present[name] = value;
  }
  return present;
}

const originOf = remembered((url) => safeUrl(url)?.origin);

/** Throws an Error that says what is wrong; its text is for the log only. */
export function readClaims(payload: Readonly<Record<string, unknown>>, appUuid: string): InvocationClaims {
  const { data: claims, error } = schema.safeParse(payload);
  if (error) throw new Error(`claims: ${error.issues.map(({ path }) => path.join('.')).join(', ')}`);
  const { app, context, principal } = claims;
  // The audience has decided this already; a token that contradicts itself is refused all the same.
  if (parseForgeAppId(app.id)?.uuid !== appUuid) throw new Error('app.id is not the audience');
  const installationId = installationUuid(app.installationId);
  if (installationId === undefined) throw new Error('app.installationId is no installation');
  return {
    jti: claims.jti,
    installationId,
    module: defined({ type: app.module?.type, key: app.module?.key ?? context?.moduleKey }),
    ...defined({
      principal: principal ?? undefined,
      apiBaseUrl: app.apiBaseUrl,
      siteUrl: context?.siteUrl === undefined ? undefined : originOf(context.siteUrl),
      cloudId: context?.cloudId,
      environmentId: app.environment?.id === undefined ? undefined : environmentUuid(app.environment.id),
    }),
  };
}
