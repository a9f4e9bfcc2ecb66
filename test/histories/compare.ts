import assert from 'node:assert/strict';
import { isDomainError } from '../../core/errors.ts';
import type { Message, Part } from '../../core/message.ts';
import type { Task } from '../../core/task.ts';
import { type ModelTask, PEOPLE, tasksOf } from './model.ts';
import type { Process, World } from './world.ts';

/* What callers see against what the model says they see. */

export const FILE = '<file>';

export function textOfParts(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part ? part.text : FILE)).join('');
}

function line({ role, parts }: Message): string {
  return `${role === 'ROLE_USER' ? 'user' : 'agent'}: ${textOfParts(parts)}`;
}

/** Long texts shown by length and end, so that a difference can be read. */
function short(text: string): string {
  return text.length > 80 ? `${text.length} characters … ${text.slice(-20)}` : text;
}

function seen(task: Task) {
  return {
    contextId: task.contextId,
    state: task.status.state,
    said: task.status.message ? textOfParts(task.status.message.parts) : '',
    history: (task.history ?? []).map(line),
    artifacts: (task.artifacts ?? []).map(({ artifactId, parts }) => `${artifactId}: ${short(textOfParts(parts))}`),
  };
}

function expected({ contextId, state, said, history, artifacts }: ModelTask) {
  return {
    ...{ contextId, state, said, history },
    artifacts: [...artifacts].map(([id, parts]) => `${id}: ${short(parts.map(({ text }) => text).join(''))}`),
  };
}

export async function expectTask(process: Process, task: ModelTask): Promise<void> {
  expectSeen(await process.operations.getTask({ owner: task.person.owner }, task.id), task);
}

export function expectSeen(real: Task, task: ModelTask): void {
  assert.deepEqual(seen(real), expected(task), `task ${task.number}`);
  const at = Date.parse(real.status.timestamp);
  assert.ok(at >= task.seenAt, `task ${task.number}: its status goes back in time`);
  task.seenAt = at;
}

/** To everybody but its owner a task does not exist, and neither does one that was erased. */
export async function expectNoTask(process: Process, taskId: string, except?: string): Promise<void> {
  for (const { name, owner } of PEOPLE) {
    if (name === except) continue;
    await assert.rejects(
      process.operations.getTask({ owner }, taskId),
      (error) => isDomainError(error, 'TASK_NOT_FOUND'),
      `${name} sees ${taskId}`,
    );
  }
}

/** What the last command may have changed, through either process. */
export async function expectTouched(world: World): Promise<void> {
  const { model, processes } = world;
  for (const [index, id] of [...model.touched].entries()) {
    const task = model.tasks.get(id);
    const process = processes[(world.story.length + index) % processes.length];
    assert.ok(process);
    if (task) await expectTask(process, task);
    else await expectNoTask(process, id);
  }
  model.touched.clear();
}

/** The whole list of one person, page by page. */
export async function expectList(process: Process, world: World, name: string): Promise<void> {
  const person = PEOPLE.find((each) => each.name === name);
  assert.ok(person);
  const ids: string[] = [];
  let pageToken = '';
  do {
    const page = await process.operations.listTasks(
      { owner: person.owner },
      { filter: {}, pageSize: 3, includeArtifacts: false, ...(pageToken ? { pageToken } : {}) },
    );
    assert.equal(page.totalSize, tasksOf(world.model, person).length, `${name} is told the size of the list`);
    ids.push(...page.tasks.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  const own = tasksOf(world.model, person).map(({ id }) => id);
  assert.deepEqual([...ids].sort(), [...own].sort(), `${name} lists own tasks, each once`);
}
