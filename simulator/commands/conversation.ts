import type { Atlassian } from '../atlassian.ts';
import { artifactText, messageText, type StreamResponse, statusText, type Task } from '../client/a2a.ts';
import type { Invocation, JiraClient } from '../client/jira-client.ts';
import type { LifecycleResult } from '../client/lifecycle.ts';
import { type Arguments, UsageError } from './arguments.ts';

type Print = (line: string) => void;

const short = (state: string): string => state.replace('TASK_STATE_', '').toLowerCase();
const indent = (text: string): string => text.replace(/^/gm, '    ');

function printTask(print: Print, task: Task): void {
  const text = statusText(task);
  print(`task ${task.id}  context ${task.contextId}`);
  print(`  ${short(task.status.state)}${text === '' ? '' : `: ${text.split('\n')[0]}`}`);
}

function printEnd(print: Print, task: Task | undefined): void {
  if (!task) return;
  const artifact = artifactText(task);
  if (artifact !== '') print(`  artifacts:\n${indent(artifact)}`);
  const text = statusText(task);
  if (text !== '') print(`  ${short(task.status.state)}, offered as a comment:\n${indent(text)}`);
}

function printFaults(print: Print, faults: readonly string[]): void {
  for (const fault of new Set(faults)) print(`  ! Jira's client would refuse: ${fault}`);
}

function printFrame(print: Print, frame: StreamResponse): void {
  if (frame.task) printTask(print, frame.task);
  if (frame.message) print(`message: ${messageText(frame.message)}`);
  if (frame.statusUpdate) {
    const { state, message } = frame.statusUpdate.status;
    print(`  ${short(state)}${message ? `: ${messageText(message).split('\n')[0]}` : ''}`);
  }
  if (frame.artifactUpdate) {
    const { artifact, append } = frame.artifactUpdate;
    const chars = artifact.parts.reduce((sum, part) => sum + (part.text?.length ?? 0), 0);
    print(`  artifact ${artifact.artifactId} ${append ? '+' : '='} ${chars} characters`);
  }
}

async function converse(invocation: Invocation, args: Arguments, print: Print): Promise<boolean> {
  if (args.stream || args.cutAfter !== undefined) {
    const { task, faults, outcome, streams } = await invocation.follow({
      ...(args.cutAfter === undefined ? {} : { cutAfterFrames: args.cutAfter }),
      onFrame: (frame) => printFrame(print, frame),
    });
    const error = streams.at(-1)?.error;
    if (error) print(`error ${error.code}: ${error.message}`);
    printEnd(print, task);
    printFaults(print, faults);
    return outcome === 'settled';
  }
  let last = '';
  const done = await invocation.run({
    onTask(task) {
      const line = `${task.status.state} ${statusText(task)}`;
      if (line !== last) printTask(print, task);
      last = line;
    },
  });
  if (done.error) print(`error ${done.error.code}: ${done.error.message}`);
  printEnd(print, done.task);
  printFaults(print, done.faults);
  return done.outcome === 'settled';
}

function printLifecycle(print: Print, result: LifecycleResult): boolean {
  for (const attempt of result.attempts) print(`HTTP ${attempt.status} after ${Math.round(attempt.elapsedMs)} ms`);
  return result.delivered;
}

async function taskCommand(client: JiraClient, args: Arguments, print: Print): Promise<boolean> {
  const taskId = args.words[0];
  if (taskId === undefined) throw new UsageError(`${args.command} needs a task id`);
  if (args.command === 'subscribe') {
    const stream = await client.subscribe(taskId, { onFrame: (frame) => printFrame(print, frame) });
    if (stream.error) print(`error ${stream.error.code}: ${stream.error.message}`);
    printEnd(print, stream.task);
    printFaults(print, stream.faults);
    return stream.error === undefined;
  }
  const answer = args.command === 'cancel' ? await client.cancel(taskId) : await client.get(taskId);
  if (answer.error) print(`error ${answer.error.code}: ${answer.error.message}`);
  if (answer.task) printTask(print, answer.task);
  printEnd(print, answer.task);
  printFaults(print, answer.faults);
  return answer.error === undefined;
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

async function tokenCommand(atlassian: Atlassian, args: Arguments, print: Print): Promise<boolean> {
  const who = { as: args.as ?? 'alice', ...(args.site === undefined ? {} : { site: args.site }) };
  print(`authorization: Bearer ${await atlassian.mint(who)}`);
  print(`x-forge-oauth-user: ${atlassian.findSite(args.site).currentToken(who.as)}`);
  print('# the first one lives 25 s');
  return true;
}

/** Runs one command inside the simulator that serves. Resolves with whether it went well. */
export async function runCommand(atlassian: Atlassian, args: Arguments, print: Print): Promise<boolean> {
  const client = atlassian.client({
    url: args.url,
    timeScale: args.timeScale,
    ...(args.as === undefined ? {} : { as: args.as }),
    ...(args.site === undefined ? {} : { site: args.site }),
    ...(args.userToken === undefined ? {} : { userToken: args.userToken }),
  });
  const lifecycle = args.site === undefined ? {} : { site: args.site };
  switch (args.command) {
    case 'assign':
    case 'mention':
    case 'chat':
    case 'automation':
      return converse(invocationFor(client, args), args, print);
    case 'get':
    case 'cancel':
    case 'subscribe':
      return taskCommand(client, args, print);
    case 'install':
      return printLifecycle(print, await client.install(lifecycle));
    case 'upgrade':
      return printLifecycle(print, await client.upgrade(lifecycle));
    case 'uninstall': {
      const delivered = printLifecycle(print, await client.uninstall(lifecycle));
      print(`the next install on this site brings the installation ${atlassian.findSite(args.site).reinstall().id}`);
      return delivered;
    }
    case 'token':
      return tokenCommand(atlassian, args, print);
    case 'rotate-keys':
      print(`signing with ${await atlassian.rotateKeys()}`);
      return true;
    case 'outage': {
      const kind = args.words[0] ?? 'refuse';
      if (kind !== 'none' && kind !== 'error' && kind !== 'refuse' && kind !== 'hang')
        throw new UsageError('outage none|error|refuse|hang');
      atlassian.outage(kind);
      print(`key set: ${kind}`);
      return true;
    }
    default:
      throw new UsageError(`no command ${args.command}`);
  }
}
