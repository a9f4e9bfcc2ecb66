export const USAGE = `usage: npm run ops -- <noun> <verb> [options]

  executions list                     dead ones, which wait for you
      --outcome dead|open             those that wait or run instead
      --tenant <id>  --limit <n>      (50)
  executions retry <task> [<turn>]    a new task in the same context from the same message
      --again                         also when it was retried before
      --deadline-minutes <n>          how long the new task may take (60)
  executions close <task> [<turn>]    nothing more is to be done about it

  tasks list                          newest first
      --tenant <id>  --principal <id>  --context <id>  --state <state>  --limit <n>
  tasks show <task>                   all that happened to it, in order
  tasks cancel <task>

  tenants list
  tenants pause <tenant>              its messages are accepted and wait, nothing new is run
  tenants resume <tenant>
  tenants erase <tenant>              remove it and erase all that it has, now; this cannot be undone
  tenants restore <tenant>            let an erased tenant's callers in again; what was erased stays gone

  erase --principal <id>              all that one person has; this cannot be undone
      --tenant <id>                   in one tenant only

  runner show
  runner pause                        no process takes up anything new
  runner resume

  audit list  --limit <n>             what operators did, newest first

Everywhere:
  --database <file>   a path or sqlite:<path>; otherwise DATABASE_URL of the environment or .env
  --json              for programs
  --texts             with "tasks show": also what people and the agent wrote
  --as <name>         who you are, for the audit; otherwise your account on this machine
  --reason <text>     why, for the audit. Names no person: the audit is never erased

It works beside running services and changes nothing of them but the database.
Exit: 0 done, 1 refused or not possible, 64 wrong usage, 78 wrong configuration or no database there.
`;
