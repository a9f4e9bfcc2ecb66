import { randomUUID } from 'node:crypto';
import {
  CancelTaskRequest,
  type Part,
  Role,
  SendMessageRequest,
  type StreamResponse,
  SubscribeToTaskRequest,
  type TaskStatus,
} from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type TransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import type { CallAgent } from './instruction.ts';

/** Ends what a held task says. */
export const FINISHED = 'task-finished';
const legacyCompat = { enabled: true };
const TRANSPORTS: Readonly<Record<string, TransportFactory>> = {
  jsonrpc: new JsonRpcTransportFactory({ legacyCompat }),
  http_json: new RestTransportFactory({ legacyCompat }),
  grpc: new GrpcTransportFactory({ legacyCompat }),
};

async function connect(call: CallAgent): Promise<Client> {
  const transport = TRANSPORTS[call.transport.toLowerCase()];
  if (transport === undefined) throw new Error(`${call.transport} is not spoken here`);
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [transport],
    preferredTransports: [transport.protocolName],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
  });
  return new ClientFactory(options).createFromUrl(call.cardBase);
}

function request(instruction: Uint8Array): SendMessageRequest {
  const raw = Buffer.from(instruction).toString('base64');
  const part = { raw, mediaType: 'application/x-protobuf', filename: 'instruction.bin' };
  return SendMessageRequest.fromJSON({ message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [part] } });
}

function textOf(parts: readonly Part[] | undefined): string {
  return (parts ?? []).map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
}

const statusText = (status: TaskStatus | undefined): string => textOf(status?.message?.parts);

/** What an event says; nothing for artifacts, which the kit does not use. A task also repeats what its agent said before. */
function said({ payload }: StreamResponse): string {
  switch (payload?.$case) {
    case 'task': {
      const before = payload.value.history.filter(({ role }) => role === Role.ROLE_AGENT);
      return [...before.map(({ parts }) => textOf(parts)), statusText(payload.value.status)].join('');
    }
    case 'statusUpdate':
      return statusText(payload.value.status);
    case 'message':
      return textOf(payload.value.parts);
    default:
      return '';
  }
}

async function resubscribe(client: Client, instruction: Uint8Array): Promise<string> {
  let id = '';
  for await (const { payload } of client.sendMessageStream(request(instruction))) {
    if (payload?.$case === 'task') id = payload.value.id;
    if (payload?.$case === 'statusUpdate') id = payload.value.taskId;
    break;
  }
  for await (const event of client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }))) {
    const text = said(event);
    if (!text.includes(FINISHED)) continue;
    await client.cancelTask(CancelTaskRequest.fromJSON({ id }));
    return text.replaceAll(FINISHED, '').trim();
  }
  throw new Error('the subscription ended without the answer');
}

/** Does what a `call` instruction says; answers what the called agent said. */
export async function callAgent(call: CallAgent): Promise<string> {
  const client = await connect(call);
  if (call.behavior === 'push-notification') throw new Error('push notifications are not played here');
  if (call.behavior === 'resubscribe') return resubscribe(client, call.instruction);
  if (call.streaming) {
    const texts: string[] = [];
    for await (const event of client.sendMessageStream(request(call.instruction))) texts.push(said(event));
    return texts.filter((text) => text !== '').join('\n');
  }
  const answer = await client.sendMessage(request(call.instruction));
  return 'status' in answer ? statusText(answer.status) : textOf(answer.parts);
}
