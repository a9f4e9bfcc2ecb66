import type { AgentCard } from '@a2a-js/sdk';
import { Message, Task, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor } from '@a2a-js/sdk/server';

/** The same three states as bench/echo-agent.ts: submitted, working, completed with the text back. */
export const echoExecutor: AgentExecutor = {
  execute: async ({ taskId, contextId, userMessage }, bus) => {
    const timestamp = new Date().toISOString();
    const text = Message.toJSON(userMessage) as { readonly parts: readonly { readonly text?: string }[] };
    const reply = {
      messageId: crypto.randomUUID(),
      taskId,
      contextId,
      role: 'ROLE_AGENT',
      parts: [{ text: `echo: ${text.parts[0]?.text ?? ''}` }],
    };
    const status = (state: string, message?: unknown) =>
      TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status: { state, timestamp, message } });
    bus.publish(
      AgentEvent.task(
        Task.fromJSON({
          id: taskId,
          contextId,
          status: { state: 'TASK_STATE_SUBMITTED', timestamp },
          history: [Message.toJSON(userMessage)],
        }),
      ),
    );
    bus.publish(AgentEvent.statusUpdate(status('TASK_STATE_WORKING')));
    bus.publish(AgentEvent.statusUpdate(status('TASK_STATE_COMPLETED', reply)));
    bus.finished();
  },
  cancelTask: async (_taskId, bus) => {
    bus.finished();
  },
};

export const card: AgentCard = {
  name: 'echo',
  description: 'Says it back',
  version: '1',
  supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
  provider: undefined,
};
