const KEY = /^[A-Za-z0-9+/]{43}=$/;

/**
 * CREDENTIALS_KEY: one or more keys of 32 bytes in base64, separated by commas. The first seals, all open. Undefined
 * when it is anything else.
 */
export function parseCredentialsKeys(text: string): readonly [Uint8Array, ...Uint8Array[]] | undefined {
  const entries = text.split(',').map((entry) => entry.trim());
  if (!entries.every((entry) => KEY.test(entry))) return undefined;
  const [first, ...others] = entries.map((entry) => new Uint8Array(Buffer.from(entry, 'base64')));
  return first === undefined ? undefined : [first, ...others];
}
