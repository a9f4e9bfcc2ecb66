import { setTimeout as later } from 'node:timers/promises';
import type { Message } from '../../../core/message.ts';
import type { Agent } from '../../../core/ports/agent.ts';
import { callAgent, FINISHED } from './call-agent.ts';
import { holds, type Instruction, readInstruction } from './instruction.ts';

/*
 * One agent among those of the interop kit: does what the instruction in its message says, which may be to call the next
 * agent, and answers with everything that was said on the way. Loaded into the shipped service with AGENT=module:.
 */

const HELD_MS = 10_000;

async function play(instruction: Instruction): Promise<string> {
  if ('call' in instruction) return callAgent(instruction.call);
  if ('answer' in instruction) return instruction.answer;
  const answers: string[] = [];
  for (const step of instruction.steps) answers.push(await play(step));
  return answers.join('\n');
}

function instructionOf({ parts }: Message): Instruction {
  for (const part of parts) {
    if ('raw' in part) return readInstruction(Buffer.from(part.raw, 'base64'));
  }
  throw new Error('the message holds no instruction');
}

export const agent: Agent = {
  recovery: 'rerun',
  inputModes: ['text/plain', 'application/x-protobuf'],
  outputModes: ['text/plain'],
  skills: [{ id: 'itk', name: 'Interop kit', description: 'Does what an instruction says.', tags: ['test'] }],
  async *run({ message, signal }) {
    yield { state: 'TASK_STATE_WORKING' };
    const instruction = instructionOf(message);
    const text = await play(instruction);
    if (holds(instruction)) {
      // Until the caller, who has left and comes back, cancels it.
      yield { state: 'TASK_STATE_WORKING', message: `${text}\n${FINISHED}` };
      await later(HELD_MS, undefined, { signal });
    }
    yield { state: 'TASK_STATE_COMPLETED', message: text };
  },
};
