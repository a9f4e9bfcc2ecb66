/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export type Role = 'ROLE_USER' | 'ROLE_AGENT';

interface PartDetails {
  readonly filename?: string;
  readonly mediaType?: string;
  readonly metadata?: JsonObject;
}

/** `raw` is base64. Exactly one of the four contents is present (A2A 1.0, 4.1.6). */
export type Part =
  | (PartDetails & { readonly text: string })
  | (PartDetails & { readonly raw: string })
  | (PartDetails & { readonly url: string })
  | (PartDetails & { readonly data: Json });

/** A2A 1.0, 4.1.4, in ProtoJSON spelling. */
export interface Message {
  readonly messageId: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
  readonly extensions?: readonly string[];
  readonly referenceTaskIds?: readonly string[];
}

export function isText(part: Part): part is PartDetails & { readonly text: string } {
  return 'text' in part;
}

/** The text parts of a message or artifact, in order, joined without a separator. */
export function textOf(parts: readonly Part[]): string {
  let text = '';
  for (const part of parts) if (isText(part)) text += part.text;
  return text;
}
