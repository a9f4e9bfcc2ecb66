import type { Atlassian } from '../atlassian.ts';
import { messageText, type RpcError } from '../client/a2a.ts';
import type { Invocation, JiraClient } from '../client/jira-client.ts';
import type { LifecycleResult } from '../client/lifecycle.ts';
import { type Arguments, DEFAULT_PORTS, DEFAULT_URL, type SentCommand, UsageError } from './arguments.ts';
import { createNarration, type Narration, type Print } from './narration.ts';

interface Talk {
  readonly client: JiraClient;
  readonly args: Arguments;
  readonly say: Narration;
  readonly signal: AbortSignal;
}

const OUTAGES = ['none', 'error', 'refuse', 'hang'] as const;

function sayError(say: Narration, error: RpcError | undefined): void {
  if (error) say.print(`error ${error.code}: ${error.message}`);
}

async function converse(invocation: Invocation, { args, say, signal }: Talk): Promise<boolean> {
  if (args.stream || args.cutAfter !== undefined) {
    const { task, faults, outcome, streams } = await invocation.follow({
      ...(args.cutAfter === undefined ? {} : { cutAfterFrames: args.cutAfter }),
      onFrame: (frame) => say.frame(frame),
      onGap: (gap) => say.miss(gap),
      signal,
    });
    const last = streams.at(-1);
    if (last?.status === 200) sayError(say, last.error);
    say.end(task);
    say.faults(faults);
    if (outcome === 'limit') say.print('  ! Jira gives up here');
    return outcome === 'settled';
  }
  const done = await invocation.run({ onTask: (task) => say.task(task), onMiss: (miss) => say.miss(miss), signal });
  if (done.status === undefined || done.status === 200) sayError(say, done.error);
  if (done.message) say.print(`message: ${messageText(done.message)}`);
  say.end(done.task);
  say.faults(done.faults);
  if (done.task && done.status !== undefined && done.status !== 200) say.faults([`HTTP ${done.status}`]);
  if (done.outcome === 'limit') say.print('  ! Jira gives up here');
  return done.outcome === 'settled';
}

async function taskCommand({ client, args, say, signal }: Talk): Promise<boolean> {
  const taskId = args.words[0];
  if (taskId === undefined) throw new UsageError(`${args.command} needs a task id`);
  if (args.command === 'subscribe') {
    const stream = await client.subscribe(taskId, { onFrame: (frame) => say.frame(frame), signal });
    if (stream.status === 200) sayError(say, stream.error);
    say.end(stream.task);
    say.faults(stream.faults);
    return stream.error === undefined && stream.status === 200;
  }
  const answer =
    args.command === 'cancel' ? await client.cancel(taskId, { signal }) : await client.get(taskId, { signal });
  if (answer.status === 200) sayError(say, answer.error);
  if (answer.task) say.task(answer.task);
  say.end(answer.task);
  say.faults(answer.faults);
  return answer.error === undefined && answer.status === 200;
}

function invocationFor(client: JiraClient, args: Arguments): Invocation {
  const ids = {
    ...(args.contextId === undefined ? {} : { contextId: args.contextId }),
    ...(args.messageId === undefined ? {} : { messageId: args.messageId }),
  };
  const [first, second] = args.words;
  if (first === undefined)
    throw new UsageError(
      `${args.command} needs ${args.command === 'chat' || args.command === 'automation' ? 'a text' : 'a work item'}`,
    );
  if (args.command === 'assign') return client.assign(first, ids);
  if (args.command === 'chat') return client.chat(args.words.join(' '), ids);
  if (args.command === 'automation') return client.automation(args.words.join(' '), ids);
  return client.mention(first, second === undefined ? 'can you have a look?' : args.words.slice(1).join(' '), ids);
}

async function lifecycleCommand({ client, args, say, signal }: Talk): Promise<LifecycleResult> {
  const options = {
    ...(args.site === undefined ? {} : { site: args.site }),
    onAttempt: say.attempt,
    signal,
  };
  if (args.command === 'install') return client.install(options);
  return args.command === 'upgrade' ? client.upgrade(options) : client.uninstall(options);
}

async function tokenCommand(atlassian: Atlassian, args: Arguments, print: Print): Promise<boolean> {
  const who = { as: args.as ?? 'alice', ...(args.site === undefined ? {} : { site: args.site }) };
  print(`authorization: Bearer ${await atlassian.mint(who)}`);
  print(`x-forge-oauth-user: ${atlassian.findSite(args.site).currentToken(who.as)}`);
  print('# the first one lives 25 s');
  return true;
}

function outageCommand(atlassian: Atlassian, args: Arguments, print: Print): boolean {
  const kind = OUTAGES.find((known) => known === args.words[0]);
  if (kind === undefined) throw new UsageError(`outage needs one of ${OUTAGES.join(', ')}`);
  atlassian.outage(kind);
  print(`key set: ${kind}`);
  if (kind !== 'none') print('an agent keeps the keys it has: rotate-keys makes the next call need a new one');
  return true;
}

/** What else has to be typed in another terminal. */
function sameOptions(args: Arguments, defaultUrl: string): string {
  return [
    args.url === defaultUrl ? '' : ` --url ${args.url}`,
    args.site === undefined ? '' : ` --site ${args.site}`,
    args.controlPort === DEFAULT_PORTS.control ? '' : ` --control-port ${args.controlPort}`,
  ].join('');
}

export interface RunOptions {
  readonly print: Print;
  /** Whoever gave the command is gone: whatever it waits for is dropped. */
  readonly signal: AbortSignal;
  /** The agent when no command names one. */
  readonly defaultUrl?: string;
}

/** Runs one command inside the simulator that serves. Resolves with whether it went well. */
export async function runCommand(atlassian: Atlassian, args: Arguments, options: RunOptions): Promise<boolean> {
  const { print, signal, defaultUrl = DEFAULT_URL } = options;
  const client = atlassian.client({
    url: args.url,
    timeScale: args.timeScale,
    ...(args.as === undefined ? {} : { as: args.as }),
    ...(args.site === undefined ? {} : { site: args.site }),
    ...(args.userToken === undefined ? {} : { userToken: args.userToken }),
  });
  const person = args.as ?? 'alice';
  const same = sameOptions(args, defaultUrl);
  const say = createNarration({ print, url: args.url, full: args.full, person, sameOptions: same });
  const talk: Talk = { client, args, say, signal };
  const tell = (): Promise<boolean> => {
    const invocation = invocationFor(client, args);
    print(`${person} → ${args.url}`);
    return converse(invocation, talk);
  };
  const lifecycle = async (): Promise<boolean> => {
    print(`${args.command} → ${new URL('.', args.url).href}`);
    return (await lifecycleCommand(talk)).delivered;
  };
  const commands: Readonly<Record<SentCommand, () => boolean | Promise<boolean>>> = {
    assign: tell,
    mention: tell,
    chat: tell,
    automation: tell,
    get: () => taskCommand(talk),
    cancel: () => taskCommand(talk),
    subscribe: () => taskCommand(talk),
    install: lifecycle,
    upgrade: lifecycle,
    async uninstall() {
      const delivered = await lifecycle();
      print(`the next install on this site brings the installation ${atlassian.findSite(args.site).reinstall().id}`);
      return delivered;
    },
    token: () => tokenCommand(atlassian, args, print),
    async 'rotate-keys'() {
      print(`signing with ${await atlassian.rotateKeys()}`);
      print(
        'an agent that has asked for the key set within its cooldown (this service: 30 s) refuses it until that is over',
      );
      return true;
    },
    outage: () => outageCommand(atlassian, args, print),
  };
  try {
    if (args.command === 'serve' || args.command === 'check')
      throw new UsageError(`${args.command} does not go to a simulator that runs`);
    return await commands[args.command]();
  } finally {
    say.close();
  }
}
