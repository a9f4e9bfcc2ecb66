import { startAtlassian } from '../atlassian.ts';
import { type Arguments, DEFAULT_PORTS, DEFAULT_URL } from './arguments.ts';
import { startControl } from './control.ts';
import { environmentHelp } from './usage.ts';

/** Starts everything, says how to point an agent at it, and stays until the signal. */
export async function serve(args: Arguments, signal: AbortSignal, write: (text: string) => void): Promise<void> {
  const atlassian = await startAtlassian({
    jwksPort: args.jwksPort,
    sitePort: args.sitePort,
    timeScale: args.timeScale,
  });
  const defaults = { url: args.url, timeScale: args.timeScale };
  const control = await startControl(atlassian, { port: args.controlPort, defaults }).catch(async (error: unknown) => {
    await atlassian.close();
    throw error;
  });
  const there = control.port === DEFAULT_PORTS.control ? '' : ` --control-port ${control.port}`;
  const { hostname, port } = new URL(args.url);
  const elsewhere = hostname === '127.0.0.1' && port !== '' && port !== new URL(DEFAULT_URL).port;
  const environment = { ...atlassian.env, ...(elsewhere ? { PORT: port } : {}) };
  write(`A local Atlassian is running. Start the agent with these in its environment:

${environmentHelp(environment)}

  for example: ${Object.entries(environment)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')} npm start

People: alice sees SHOP and PAY, bob sees SHOP, carol sees nothing. Then, in another terminal:

  npm run simulator -- assign SHOP-1 --as alice${there}
  npm run simulator -- mention SHOP-1 "what blocks this?" --as bob --stream${there}
  npm run simulator -- chat "What is blocking SHOP-1?"${there}
  npm run simulator -- token${there}
  npm run simulator -- --help

Commands reach it on port ${control.port} (--control-port) and speak to the agent at ${args.url} (--url).
`);
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.all([control.close(), atlassian.close()]);
}
