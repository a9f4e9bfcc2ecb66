import { must, NO_CUSTOM, type Requirement, should } from './row.ts';

const TLS = 'The proxy in front ends TLS; the service warns when PUBLIC_URL is not https.';
const WEBHOOK = { on: ['webhook'], notOffered: 'Nothing is delivered to push configs yet.' } as const;
const CUSTOM = { on: ['custom'], notOffered: NO_CUSTOM } as const;

/** Sections 7 and 13. */
export const SECURITY: readonly Requirement[] = [
  must('7.1-encrypted', 'In production every connection is encrypted.', { elsewhere: TLS }),
  should('7.1-modern-tls', 'TLS is a modern one, with strong ciphers.', { elsewhere: TLS }),
  must('7.4-every-request', 'Every request is authenticated as the card says.'),
  should('7.4-codes', 'Refusals have the binding’s own codes.'),
  should('7.4-challenge', 'Refusals carry a challenge.'),
  must('7.6.1-task', 'A request for authorization is a state of a task.'),
  must('7.6.1-state', 'That state is AUTH_REQUIRED.'),
  must('7.6.1-explained', 'Its status says in words what authorization is needed.'),
  must('7.6.1-out-of-band', 'Credentials come another way than in messages.'),
  should('7.6.1-streams', 'Streams stay open while a task waits for authorization.'),
  should('7.6.1-messages', 'A task that waits for authorization takes messages.'),
  should('7.6.3-secure', 'Credentials come over a secure channel.', { elsewhere: TLS }),
  should('7.6.3-bound', 'Credentials in messages can be used by the agent alone that asked for them.', {
    notOffered: 'Credentials never come in messages.',
  }),
  should('7.6.3-readable', 'Credentials in messages can be read by that agent alone.', {
    notOffered: 'Credentials never come in messages.',
  }),
  must('7.6.4-no-permission', 'That a task waits for authorization, or goes on, permits nothing by itself.'),
  must('7.6.4-defined', 'What a credential means is defined, by us or by who issued it.'),
  must('7.6.4-later', 'A credential that came for one message counts for later ones only where that is defined.'),

  must('13.1-scoped', 'Operations reach what is the caller’s, and nothing else.'),
  must('13.1-every-operation', 'Every operation checks that.'),
  must('13.1-without-filter', 'A list without a filter is just as limited.'),
  must('13.1-list', 'ListTasks shows tasks that the caller may see.'),
  must('13.1-get', 'GetTask checks that the task is the caller’s.'),
  must('13.1-others', 'CancelTask, SubscribeToTask and everything about push configs check that, too.'),
  must('13.1-first', 'It is checked before anything could tell that the task exists.'),
  should('13.1-documented', 'The rules of who may see what are documented.'),

  must('13.2-credentials', 'A notification carries the credentials that its config names.', WEBHOOK),
  should('13.2-timeout', 'A delivery is given up after a reasonable time.', WEBHOOK),
  should('13.2-retry', 'A delivery that failed is tried again, later and later.', WEBHOOK),
  should('13.2-destination', 'Receivers at private, local or link-local addresses are refused.', {
    limits: 'Names are judged when they are connected to, which nothing does yet.',
  }),
  should('13.2-https', 'Receivers are https URLs.'),
  should('13.2-secrets', 'Tokens of push configs are treated as secrets.'),
  should('13.2-stored', 'Push configs and their credentials are stored securely.', {
    notMet: 'They are in the database as they came. Its file has to be protected like the secrets that it holds.',
  }),

  must('13.3-authenticated', 'The extended card is for authenticated callers.'),
  must('13.3-scheme', 'They authenticate by a scheme of the public card.'),
  should('13.3-caching', 'Headers say how the extended card may be cached.'),
  should('13.3-documented', 'It is documented who gets which card.'),
  should('13.3-no-secrets', 'The extended card holds nothing that would do harm if it leaked.'),
  must('13.3-permission', 'What only some may read on it is shown to nobody else.'),
  should('13.3-version', 'The extended card has a version.'),
  must('13.3-not-declared', 'Without the capability the operation is an UnsupportedOperationError.'),
  must('13.3-not-configured', 'Declared and not configured has an error of its own.', {
    notOffered: 'The card declares one exactly when there is one; both are made from the same source.',
  }),

  must('13.4-encrypted', 'In production every connection is encrypted.', { elsewhere: TLS }),
  should('13.4-modern-tls', 'TLS is a modern one, with strong ciphers.', { elsewhere: TLS }),
  should('13.4-hsts', 'HTTP Strict Transport Security is enforced.'),
  should('13.4-old-tls', 'Old versions of SSL and TLS are off.', { elsewhere: TLS }),
  must('13.4-validated', 'Every parameter is checked before anything is done.'),
  should('13.4-limits', 'Sizes of messages and files, and what a request may cost, are limited.'),
  should('13.4-media-types', 'Unexpected media types are refused.'),
  must('13.4-secrets', 'Credentials are treated as secrets.'),
  should('13.4-rotated', 'Credentials are rotated.'),
  should('13.4-encrypted-credentials', 'Credentials travel over encrypted connections only.', { elsewhere: TLS }),
  should('13.4-revoked', 'Credentials can be revoked.'),
  should('13.4-failures-logged', 'Failed authentications are logged.'),
  should('13.4-brute-force', 'Failed authentications are limited in their rate.', {
    notMet: 'Tokens are signed, so that guessing leads nowhere, and made-up ones cost no fetch of keys.',
  }),
  should('13.4-events-logged', 'Events that matter to security are logged.'),
  should('13.4-monitored', 'Unusual patterns can be seen.'),
  should('13.4-audit', 'Sensitive operations leave an audit trail.'),
  must('13.4-clean-logs', 'Logs hold no credentials and no personal data.'),
  should('13.4-rate-limits', 'Operations are limited in their rate.', {
    notMet: 'What one caller may have running and waiting is limited; how often it may call is for the proxy to say.',
  }),
  should('13.4-limit-errors', 'Whoever exceeds a limit is told so properly.'),
  must('13.4-privacy', 'Data protection law is complied with.', {
    elsewhere: 'The operator. What there is for it: retention, erasing, logs without people.',
  }),
  should('13.4-deletion', 'People can have their data deleted.'),
  should('13.4-retention', 'Data is kept for a limited time.'),
  should('13.4-little-logged', 'Little of what is personal is logged.'),
  must('13.4-custom', 'A custom binding says in its specification how it is secured.', CUSTOM),
  should('13.4-custom-principles', 'It follows the principles of the standard ones.', CUSTOM),
  must('13.4-custom-documented', 'It documents authentication and how credentials travel.', CUSTOM),
];
