import { must, NO_CUSTOM, type Requirement, should } from './row.ts';

/** Section 3: what each operation does, and what holds for all of them. */
export const OPERATIONS: readonly Requirement[] = [
  must('3.1-operations', 'Every core operation is served, over every binding.'),

  must('3.1.1-answer', 'SendMessage answers with a task or with a message.'),
  must('3.1.1-terminal', 'A message to a task that has ended is an UnsupportedOperationError.'),
  must(
    '3.1.1-media-type',
    'A message with a media type that the agent does not take is a ContentTypeNotSupportedError.',
  ),
  must('3.1.2-opens', 'SendStreamingMessage opens a stream.'),
  must('3.1.2-message', 'A stream that answers with a message is that one message and its end.'),
  must(
    '3.1.2-task-first',
    'A stream about a task begins with the task; only updates of its status and artifacts follow.',
  ),
  must('3.1.2-ends', 'The stream is closed when its task has ended.'),
  must('3.1.2-progress', 'A stream shows progress and parts of a result as they come.', {
    limits: 'While it is open whether the answer is a message, the first frame waits up to 2 s for the agent.',
  }),
  must('3.1.3-history', 'GetTask never returns more messages of the history than were asked for.'),

  must('3.1.4-own-tasks', 'A list holds tasks that the caller may see, and no others.'),
  must('3.1.4-cursor', 'A list goes in pages by a cursor.'),
  must('3.1.4-order', 'A list is sorted by the time of the status, newest first.'),
  must('3.1.4-page-size', 'A page holds 1 to 100 tasks, 50 unless told; other sizes are refused.'),
  must('3.1.4-filters', 'Context, state and earliest time of the status (inclusive) narrow a list.'),
  must('3.1.4-history', 'A list never returns more messages of a task than were asked for.'),
  must('3.1.4-fields', 'Tasks, page token, page size and total number are in every list.'),
  must('3.1.4-token', 'The page token is there on every page, and an empty text on the last one.'),
  must('3.1.4-no-artifacts', 'Unless asked for, artifacts are no field of a listed task, not even an empty one.'),
  should('3.1.4-artifacts', 'When asked for, artifacts are a field of every listed task, also when there are none.'),

  must('3.1.5-ended', 'Canceling a task that has ended is a TaskNotCancelableError.', {
    limits: 'A task that is canceled already is answered as it is: canceling again has the same effect (3.3.1).',
  }),
  must('3.1.6-task-first', 'A subscription begins with the task as it is at that moment.', {
    limits: 'A client that names the last event it has (Last-Event-ID) gets the events behind it, without a task.',
  }),
  must('3.1.6-ends', 'A subscription is closed when its task has ended.'),
  must('3.1.6-terminal', 'A subscription to a task that has ended is an UnsupportedOperationError.', {
    limits: 'On `/rovo/a2a` it is the task and the end, as Jira’s guide wants it.',
  }),

  must('3.1.7-endpoint', 'A push config names a receiver of everything that happens to its task.', {
    notOffered: 'Configs are kept; nothing is delivered to them yet.',
    on: ['webhook'],
  }),
  must('3.1.7-kept', 'A push config stays until its task has ended or it is deleted.'),
  must('3.1.8-details', 'A push config is returned with its URL and settings.', {
    limits: 'Token and credentials are never returned, to nobody.',
  }),
  must('3.1.8-refused', 'A push config that does not exist, or is not the caller’s, is refused.'),
  must('3.1.9-all', 'Every active push config of a task is listed.'),
  must('3.1.10-gone', 'A deleted push config is gone for good.'),
  must('3.1.10-again', 'Deleting a push config again is no error.'),

  must('3.2.2-blocking', 'SendMessage waits until the task has ended or waits for its user, and shows all of it.', {
    limits: 'At most `A2A_WAIT_MS` (`ROVO_WAIT_MS`); then the task as it is, and the work goes on.',
  }),
  must('3.2.2-immediately', 'With returnImmediately SendMessage answers as soon as the task is there.'),
  must('3.2.2-history', 'SendMessage never returns more messages of the history than were asked for.'),
  should('3.2.2-output-modes', 'The media types that a client accepts shape the answer.', {
    notMet: 'A call that accepts none of the agent’s output modes is refused; an agent is not told which it accepts.',
  }),
  should('3.2.4-none', 'A history of length 0 is no field of the task.'),
  must('3.2.5-metadata', 'Metadata is an object whose values may be any JSON.'),
  must('3.2.6-custom', 'A custom binding says how service parameters travel.', {
    on: ['custom'],
    notOffered: NO_CUSTOM,
  }),

  must('3.3.1-cancel', 'Canceling a task several times is canceling it once.'),
  must('3.3.2-errors', 'What goes wrong is answered with the error that it is.'),
  should('3.3.2-actionable', 'An error says what its reader can do about it.'),
  must('3.3.2-unauthenticated', 'Missing and invalid credentials are refused.'),
  should('3.3.2-challenge', 'The refusal carries a challenge.'),
  should('3.3.2-scheme', 'The challenge names the scheme that is wanted.'),
  must('3.3.2-forbidden', 'A caller who lacks a permission is told that it is not allowed.', {
    notOffered: 'There are no permissions among a tenant’s own tasks: what is not the caller’s does not exist.',
  }),
  should('3.3.2-which-permission', 'That refusal says which permission is missing.', {
    notOffered: 'There are no permissions that a caller could lack.',
  }),
  must('3.3.2-no-hint', 'No answer tells that something exists which the caller may not see.'),
  must('3.3.2-validated', 'Every parameter is checked before anything is done.'),
  should('3.3.2-which-parameter', 'The refusal says which parameter is wrong, and why.'),
  should('3.3.2-guidance', 'It says what would be right.'),
  must('3.3.2-not-found', 'What does not exist, or is not the caller’s to see, is not found.'),
  should('3.3.2-same', 'The two cannot be told apart.'),
  should('3.3.2-temporary', 'Errors that may pass are told apart from those that will not.'),
  should('3.3.2-logged', 'Faults of the service are logged.'),
  must('3.3.2-code-message', 'Every error has a code for programs and a message for people.'),
  must('3.3.2-typed-details', 'Every detail of an error says its type.'),
  should('3.3.2-well-known', 'Details are those of google.rpc where one fits.'),
  must('3.3.2-mapped', 'Each binding shows code, message and details in its own form.'),

  must('3.3.4-push', 'Without push notifications on the card, everything about them is refused with their own error.'),
  must('3.3.4-streaming', 'Without streaming on the card, both streaming operations are an UnsupportedOperationError.'),
  must('3.3.4-extended-card', 'Without an extended card on the card, asking for it is an UnsupportedOperationError.'),
  must('3.3.4-extended-card-missing', 'An extended card that is declared and not configured has an error of its own.', {
    notOffered: 'The card declares one exactly when there is one; both are made from the same source.',
  }),
  must('3.3.4-extensions', 'A call without an extension that the card requires is an ExtensionSupportRequiredError.'),

  must('3.4.1-generated', 'A contextId that the service made is in the answer, task or message.'),
  must('3.4.1-refused', 'A contextId that cannot be taken is refused, and no other one takes its place.'),
  should('3.4.1-session', 'What has the same contextId belongs to one conversation.'),
  should('3.4.1-documented', 'How long a context is kept is documented.'),
  must('3.4.2-unique', 'Every new task has an id of its own.'),
  must('3.4.2-returned', 'That id is in the task that the client gets.'),
  must('3.4.2-unknown', 'A message that names a task which does not exist is a TaskNotFoundError and makes none.', {
    limits: 'On `/rovo/a2a` a retry that also names its context starts a new task there, as Jira wants it.',
  }),
  must('3.4.3-inferred', 'The context of a message that names only a task is the task’s.'),
  must('3.4.3-mismatch', 'A message whose contextId is not its task’s is refused.'),
  should('3.4.3-references', 'An agent can use the tasks that a message refers to.'),
  should('3.4.3-context', 'An agent can use what was said before in the context.'),

  must('3.5.2-order', 'Events are delivered in the order in which they came to be, over every binding.'),
  must('3.5.2-every-stream', 'Every open stream of a task gets every event.'),
  must('3.5.2-same-order', 'All of them get the same events in the same order.'),
  must('3.5.2-independent', 'A stream that is closed disturbs no other.'),

  should('3.6-no-patch', 'Answers and cards name versions without their patch number.'),
  must('3.6-patch-ignored', 'The patch number of a version decides nothing.'),
  must('3.6.2-semantics', 'A call is answered by the rules of the version that it asks for.'),
  must('3.6.2-not-supported', 'A version that is not served is a VersionNotSupportedError.'),
  must('3.6.2-empty', 'A call that names no version is one of 0.3.', {
    limits: 'On `/rovo/a2a` it is 1.0: that header may not reach us through Atlassian’s proxy.',
  }),
  should('3.7-no-results', 'Messages do not carry results.', {
    notMet:
      'The words of a completed task repeat the result, because Jira offers them, and nothing else, as a comment.',
  }),
  should('3.7-artifacts', 'Results are artifacts of the task.'),
];
