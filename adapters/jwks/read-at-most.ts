/** The body of a 200 answer as text. Throws on any other status and as soon as more than `maxBytes` have come. */
export async function readAtMost(response: Response, maxBytes: number): Promise<string> {
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`the key set answered with status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`the key set is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
