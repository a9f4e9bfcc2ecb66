import { DEFAULT_PORTS, DEFAULT_URL } from './arguments.ts';

export const USAGE = `A local Atlassian for a remote agent: keys, tokens, two Jira sites, and Jira as the client.

  npm run simulator                                 start it; leave it running
  npm run simulator -- check                        run the readiness table against an agent

While it runs, in another terminal (each prints the conversation; Ctrl-C ends it):
  npm run simulator -- assign SHOP-1 --as alice
  npm run simulator -- mention SHOP-1 "what blocks this?" --as bob --stream
  npm run simulator -- chat "What is blocking SHOP-1?" [--context <contextId>]
  npm run simulator -- automation "Brief me on SHOP-1"
  npm run simulator -- get|cancel|subscribe <taskId>
  npm run simulator -- install|upgrade|uninstall
  npm run simulator -- token                        an invocation token and a user token, for curl
  npm run simulator -- rotate-keys                  publish and use a new signing key
  npm run simulator -- outage refuse|error|hang|none  what the key set does from now on

  --url <url>             the agent, default ${DEFAULT_URL}; given at the start it holds for all commands
  --as <person>           alice (all projects), bob (SHOP only), carol (none); dan and alice on harbor
  --site <name>           lantern (default) or harbor
  --stream                stream instead of one answer and polling
  --cut-after <n>         kill the stream after n events and resume it with SubscribeToTask; implies --stream
  --user-token <which>    current (default), fresh or none
  --message-id <id>       instead of a new one
  --full                  print artifacts and answers in whole, folds included
  --time-scale <n>        divide Jira's waits and deadlines (not token times) by n; the agent's own have to follow
  --only, --skip <ids>    check: rows or groups, comma separated (task, stream.order)
  --quick                 check: without the rows that take tens of real seconds
  --json                  check: rows as JSON lines
  --jwks-port ${DEFAULT_PORTS.jwks}, --site-port ${DEFAULT_PORTS.site}, --control-port ${DEFAULT_PORTS.control}

A task that waits for a permission goes on when a call of the same person brings another user token than the one it
was parked with: get <taskId> --as <person> --user-token fresh. An agent that still holds a good token of that person
does not need the one that comes along, so --user-token none parks a task only when it holds none.

An agent keeps the keys it has, so an outage is felt only by a token with a new key: outage refuse, rotate-keys, then
call. After each attempt at the key set an agent may leave it alone for a while (this service: 30 s), so the first call
after rotate-keys, or after outage none, may still be refused.
`;

export function environmentHelp(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `  ${name}=${value}`)
    .join('\n');
}
