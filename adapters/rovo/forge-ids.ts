/*
 * Forge writes the same id as an ARI in tokens (`ari:cloud:ecosystem::installation/<uuid>`) and bare in lifecycle
 * bodies. Inside this service ids are bare lower-case uuids; only the audience keeps the full form.
 */

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const BARE = new RegExp(`^${UUID}$`);
const APP = new RegExp(`^(?:ari:cloud:ecosystem::app/)?(${UUID})$`);
const INSTALLATION = new RegExp(`^(?:ari:cloud:ecosystem::installation/)?(${UUID})$`);
const ENVIRONMENT = new RegExp(`^(?:ari:cloud:ecosystem::environment/(?:${UUID}/)?)?(${UUID})$`);

export interface ForgeAppId {
  readonly uuid: string;
  /** `ari:cloud:ecosystem::app/<uuid>`: the audience of every invocation token of this app. */
  readonly ari: string;
}

const uuidIn = (pattern: RegExp, text: string) => pattern.exec(text.trim().toLowerCase())?.[1];

/** An app's full ARI or bare uuid; undefined when it is neither. */
export function parseForgeAppId(text: string): ForgeAppId | undefined {
  const uuid = uuidIn(APP, text);
  return uuid === undefined ? undefined : { uuid, ari: `ari:cloud:ecosystem::app/${uuid}` };
}

/** The bare uuid of an installation; undefined when the text is no such id. */
export function installationUuid(text: string): string | undefined {
  return uuidIn(INSTALLATION, text);
}

/** The bare uuid of an app's environment; undefined when the text is no such id. */
export function environmentUuid(text: string): string | undefined {
  return uuidIn(ENVIRONMENT, text);
}

export function isUuid(text: string): boolean {
  return BARE.test(text);
}
