/**
 * The fields of a2a.proto (A2A 1.0) that an agent's answers are made of, in ProtoJSON names. `required` repeats the
 * proto's field_behavior; fields that share a `oneOf` exclude each other.
 */
export type Scalar = 'string' | 'bool' | 'int32' | 'bytes' | 'struct' | 'value' | 'timestamp';
export type EnumName = 'TaskState' | 'Role';
export type MessageName =
  | 'Task'
  | 'TaskStatus'
  | 'Message'
  | 'Part'
  | 'Artifact'
  | 'TaskStatusUpdateEvent'
  | 'TaskArtifactUpdateEvent'
  | 'SendMessageResponse'
  | 'StreamResponse';

export interface ProtoField {
  readonly type: Scalar | EnumName | MessageName;
  readonly repeated?: true;
  readonly required?: true;
  readonly oneOf?: string;
}

type Fields = Readonly<Record<string, ProtoField>>;

const one = (type: ProtoField['type']): ProtoField => ({ type });
const must = (type: ProtoField['type']): ProtoField => ({ type, required: true });
const many = (type: ProtoField['type']): ProtoField => ({ type, repeated: true });
const some = (type: ProtoField['type']): ProtoField => ({ type, repeated: true, required: true });
const arm = (oneOf: string, type: ProtoField['type']): ProtoField => ({ type, oneOf });

export const PROTO_MESSAGES: Readonly<Record<MessageName, Fields>> = {
  Task: {
    id: must('string'),
    contextId: one('string'),
    status: must('TaskStatus'),
    artifacts: many('Artifact'),
    history: many('Message'),
    metadata: one('struct'),
  },
  TaskStatus: { state: must('TaskState'), message: one('Message'), timestamp: one('timestamp') },
  Message: {
    messageId: must('string'),
    contextId: one('string'),
    taskId: one('string'),
    role: must('Role'),
    parts: some('Part'),
    metadata: one('struct'),
    extensions: many('string'),
    referenceTaskIds: many('string'),
  },
  Part: {
    text: arm('content', 'string'),
    raw: arm('content', 'bytes'),
    url: arm('content', 'string'),
    data: arm('content', 'value'),
    metadata: one('struct'),
    filename: one('string'),
    mediaType: one('string'),
  },
  Artifact: {
    artifactId: must('string'),
    name: one('string'),
    description: one('string'),
    parts: some('Part'),
    metadata: one('struct'),
    extensions: many('string'),
  },
  TaskStatusUpdateEvent: {
    taskId: must('string'),
    contextId: must('string'),
    status: must('TaskStatus'),
    metadata: one('struct'),
  },
  TaskArtifactUpdateEvent: {
    taskId: must('string'),
    contextId: must('string'),
    artifact: must('Artifact'),
    append: one('bool'),
    lastChunk: one('bool'),
    metadata: one('struct'),
  },
  SendMessageResponse: { task: arm('payload', 'Task'), message: arm('payload', 'Message') },
  StreamResponse: {
    task: arm('payload', 'Task'),
    message: arm('payload', 'Message'),
    statusUpdate: arm('payload', 'TaskStatusUpdateEvent'),
    artifactUpdate: arm('payload', 'TaskArtifactUpdateEvent'),
  },
};

/** The zero value (…_UNSPECIFIED) is left out: no answer may say it. */
export const PROTO_ENUMS: Readonly<Record<EnumName, readonly string[]>> = {
  TaskState: [
    'TASK_STATE_SUBMITTED',
    'TASK_STATE_WORKING',
    'TASK_STATE_COMPLETED',
    'TASK_STATE_FAILED',
    'TASK_STATE_CANCELED',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_REJECTED',
    'TASK_STATE_AUTH_REQUIRED',
  ],
  Role: ['ROLE_USER', 'ROLE_AGENT'],
};
