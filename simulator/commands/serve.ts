import { startAtlassian } from '../atlassian.ts';
import type { Arguments } from './arguments.ts';
import { startControl } from './control.ts';
import { environmentHelp } from './usage.ts';

/** Starts everything, says how to point an agent at it, and stays until the signal. */
export async function serve(args: Arguments, signal: AbortSignal, write: (text: string) => void): Promise<void> {
  const atlassian = await startAtlassian({
    jwksPort: args.jwksPort,
    sitePort: args.sitePort,
    timeScale: args.timeScale,
  });
  const control = await startControl(atlassian, args.controlPort).catch(async (error: unknown) => {
    await atlassian.close();
    throw error;
  });
  write(`A local Atlassian is running. Start the agent with these in its environment:

${environmentHelp(atlassian.env)}

  for example: ${Object.entries(atlassian.env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')} npm start

People: alice sees SHOP and PAY, bob sees SHOP, carol sees nothing. Then, in another terminal:

  npm run simulator -- assign SHOP-1 --as alice
  npm run simulator -- mention SHOP-1 "what blocks this?" --as bob --stream
  npm run simulator -- chat "What is blocking SHOP-1?"
  npm run simulator -- token
  npm run simulator -- --help

Commands reach it on port ${control.port} (--control-port).
`);
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.all([control.close(), atlassian.close()]);
}
