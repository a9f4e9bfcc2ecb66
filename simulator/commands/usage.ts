import { DEFAULT_URL } from './arguments.ts';

export const USAGE = `A local Atlassian for a remote agent: keys, tokens, two Jira sites, and Jira as the client.

  npm run simulator                                 start it; leave it running
  npm run simulator -- check                        run the readiness table against an agent

While it runs, in another terminal (each prints the conversation):
  npm run simulator -- assign SHOP-1 --as alice
  npm run simulator -- mention SHOP-1 "what blocks this?" --as bob --stream
  npm run simulator -- chat "What is blocking SHOP-1?" [--context <contextId>]
  npm run simulator -- automation "List what is due this week"
  npm run simulator -- get|cancel|subscribe <taskId>
  npm run simulator -- install|upgrade|uninstall
  npm run simulator -- token                        an invocation token and a user token, for curl
  npm run simulator -- rotate-keys                  publish and use a new signing key
  npm run simulator -- outage refuse|error|hang|none

  --url <url>             the agent, default ${DEFAULT_URL}
  --as <person>           alice (all projects), bob (SHOP only), carol (none); dan and alice on harbor
  --site <name>           lantern (default) or harbor
  --stream                stream instead of one answer and polling
  --cut-after <n>         kill the stream after n events and resume it with SubscribeToTask
  --user-token <which>    current (default), fresh or none
  --message-id <id>       instead of a new one
  --time-scale <n>        divide Jira's waits and deadlines (not token times) by n; the agent's own have to follow
  --only, --skip <ids>    check: rows or groups, comma separated (task, stream.order)
  --quick                 check: without the rows that take tens of real seconds
  --json                  check: rows as JSON lines
  --jwks-port 8091, --site-port 8092, --control-port 8093
`;

export function environmentHelp(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `  ${name}=${value}`)
    .join('\n');
}
