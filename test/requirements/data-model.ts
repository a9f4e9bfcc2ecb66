import { must, NO_CUSTOM, type Requirement, should } from './row.ts';

const NO_OAUTH = 'The card names bearer tokens and no OAuth flow: who issues them is the operator’s affair.';
const NO_DELIVERY = 'Nothing is delivered to push configs yet.';

/** Sections 4 and 5: objects, extensions, and what every binding does alike. */
export const DATA_MODEL: readonly Requirement[] = [
  must('4-equivalent', 'Every binding represents the same data.'),
  must('4.1.4-agent-context', 'A message of the agent names its context, and a task only when there is one.'),
  must('4.1.7-unique', 'An artifactId is unique within its task.'),
  must('4.1.7-parts', 'An artifact has at least one part.'),

  must('4.3.3-credentials', 'A notification carries the credentials that its config names.', {
    on: ['webhook'],
    notOffered: NO_DELIVERY,
  }),
  must('4.3.3-attempted', 'Delivery is attempted at least once to every receiver.', {
    on: ['webhook'],
    notOffered: NO_DELIVERY,
  }),
  should('4.3.3-timeout', 'A delivery is given up after a reasonable time, 10 to 30 s.', {
    on: ['webhook'],
    notOffered: NO_DELIVERY,
  }),
  must('4.4.6-https', 'In production the URL of an interface is an absolute https one.', {
    on: ['card'],
    limits: 'PUBLIC_URL says so; one that is neither https nor this machine is warned about at the start.',
  }),
  should('4.5.3-registered', 'The HTTP scheme of a security scheme is a registered one.', { on: ['card'] }),
  must('4.5.7-urls', 'Addresses of OAuth flows and of their metadata are URLs, with TLS.', {
    on: ['card'],
    notOffered: NO_OAUTH,
  }),
  should('4.5.8-pkce', 'Flows of public clients use PKCE.', { on: ['card'], notOffered: NO_OAUTH }),

  should('4.6.3-versioned', 'The URI of an extension holds its version.', {
    on: ['card'],
    elsewhere: 'The service has no extension of its own; the operator names those of others.',
  }),
  must('4.6.3-new-uri', 'A breaking change of an extension gets a new URI.', {
    on: ['card'],
    elsewhere: 'The service has no extension of its own; whoever makes one sees to that.',
  }),
  should('4.6.3-unknown', 'An extension, or a version of one, that is not supported is ignored.'),
  must('4.6.3-required', 'Another version of a required extension is not that extension, and the call is refused.'),
  must('4.6.3-no-fallback', 'No other version of an extension takes the place of the one asked for.'),

  must('5.1-functions', 'All bindings offer the same operations.'),
  must('5.1-results', 'The same call has the same result over each of them.'),
  must('5.1-errors', 'The same fault is the same error over each of them.'),
  must('5.1-authentication', 'Each of them takes the schemes of the card.'),
  must('5.2-declared', 'Every binding that is served is on the card.', { on: ['card'] }),
  must('5.4-mapping', 'Every error of A2A has the code or status that the table gives it.'),
  must('5.4-custom', 'A custom binding maps every error of A2A.', { on: ['custom'], notOffered: NO_CUSTOM }),
  should('5.4-custom-table', 'It shows that in a table.', { on: ['custom'], notOffered: NO_CUSTOM }),
  must('5.5-camel-case', 'Fields are written in camelCase in JSON.', { on: ['JSON-RPC', 'HTTP+JSON', 'card'] }),
  must('5.5-enums', 'Enums are written by their names in a2a.proto.', { on: ['JSON-RPC', 'HTTP+JSON', 'card'] }),
  must('5.6.1-utc', 'Timestamps are written as ISO 8601 in UTC, with Z.', { on: ['JSON-RPC', 'HTTP+JSON'] }),
  should('5.6.1-milliseconds', 'Timestamps have milliseconds.', { on: ['JSON-RPC', 'HTTP+JSON'] }),
  must('5.6.1-read', 'Timestamps are read correctly.', { on: ['JSON-RPC', 'HTTP+JSON'] }),
  must('5.7-present', 'Required fields are there in what we send; required lists hold something.', {
    limits: 'The tasks of a list are a required field that may be empty.',
  }),
  should('5.7-missing', 'A message without a required field is refused.'),
  should('5.7-unrecognized', 'Fields that are not known are ignored.'),
  should('5.8-uri', 'A custom binding is identified by a URI.', { on: ['custom'], notOffered: NO_CUSTOM }),
  should('5.8-card', 'That URI is its protocolBinding on the card.', { on: ['custom'], notOffered: NO_CUSTOM }),
  must('5.8-new-uri', 'A breaking change of a custom binding gets a new URI.', {
    on: ['custom'],
    notOffered: NO_CUSTOM,
  }),
];
