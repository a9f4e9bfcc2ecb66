import { must, NO_CUSTOM, type Requirement, should } from './row.ts';

const JSON_RPC = { on: ['JSON-RPC'] } as const;
const HTTP_JSON = { on: ['HTTP+JSON'] } as const;
const GRPC = { on: ['gRPC'] } as const;
const CUSTOM = { on: ['custom'], notOffered: NO_CUSTOM } as const;

/** Sections 9 to 12 and 14, and appendix A: each binding, media type, headers, well-known URI. */
export const BINDINGS: readonly Requirement[] = [
  must('9.2-headers', 'Service parameters are read from HTTP headers, in any case of their names.', JSON_RPC),
  should('9.2-commas', 'Several values of one of them come in one header, between commas.', JSON_RPC),
  must('9.3-json-rpc', 'A request is one of JSON-RPC 2.0; anything else is refused as that says.', JSON_RPC),
  must('9.5-typed-details', 'Every object of an error’s data says its type.', JSON_RPC),
  should('9.5-well-known', 'ErrorInfo refines errors, BadRequest names faulty fields.', JSON_RPC),

  must('10.2-metadata', 'Service parameters are gRPC metadata.', GRPC),
  must('10.2-extracted', 'They are read from there.', GRPC),
  should('10.2-commas', 'Several values of one of them come in one entry, between commas.', GRPC),
  should('10.2-validated', 'Those that matter, such as the version, are validated.', GRPC),
  must('10.6-error-info', 'Errors of A2A carry an ErrorInfo with their reason and the domain of A2A.', GRPC),

  should('11.1-media-type', 'Requests and answers are application/a2a+json.', {
    ...HTTP_JSON,
    notMet:
      'The answer has the type of the request, or one that it accepts. A caller that names neither gets ' +
      'application/json, which 1.0.0 asked for and older clients expect.',
  }),
  must('11.2-headers', 'Service parameters are read from HTTP headers, in any case of their names.', HTTP_JSON),
  should('11.2-commas', 'Several values of one of them come in one header, between commas.', HTTP_JSON),
  must('11.5-path-query', 'What has no body takes its parameters from path and query.', HTTP_JSON),
  must('11.5-camel-case', 'Query parameters are named in camelCase.', HTTP_JSON),
  must('11.5-nested', 'Operations that need nested objects take them in the body of a POST.', HTTP_JSON),
  must('11.5-encoded', 'Escapes of RFC 3986 are understood.', HTTP_JSON),
  must('11.6-typed-details', 'Every detail of an error says its type.', HTTP_JSON),
  should('11.6-well-known', 'BadRequest names faulty fields.', HTTP_JSON),
  must('11.6-error-info', 'Errors of A2A carry an ErrorInfo with their reason and the domain of A2A.', HTTP_JSON),
  should('11.7-order', 'A stream does not change the order of its events.', HTTP_JSON),

  must('12.1-complete', 'A custom binding has all operations, the data model, the meaning, and documentation.', CUSTOM),
  must('12.2-types', 'It maps messages, timestamps, bytes and enums.', CUSTOM),
  must('12.3-parameters', 'It documents how service parameters travel, and within what limits.', CUSTOM),
  must('12.4-errors', 'It maps every error with its details, and documents the form.', CUSTOM),
  must('12.5-no-streaming', 'A binding that cannot stream says so on the card.', CUSTOM),
  must('12.6-security', 'It takes the schemes of the card and documents credentials and challenges.', CUSTOM),
  must('12.7-card', 'It is on the card, with its URI and its URL.', CUSTOM),
  should('12.8-tested', 'It is tested against a standard one, and differences are documented.', CUSTOM),

  must('14.1.1-utf8', 'JSON is UTF-8.', HTTP_JSON),
  must('14.1.1-validated', 'Content is validated before it is processed.', HTTP_JSON),
  must('14.1.1-injection', 'What people write injects nothing anywhere.'),
  must('14.1.1-files', 'A URL in a message leads the service nowhere that its sender could not go.', {
    limits: 'The service fetches no URL of a message. An agent of yours that does has to judge it.',
  }),
  must('14.1.1-auth', 'Authentication and authorization hold for this media type as for others.', HTTP_JSON),
  must('14.1.1-private', 'What a task holds is protected as the law wants it.', {
    elsewhere: 'The operator. What there is for it: owners, retention, erasing.',
  }),
  must('14.3-card', 'The well-known URI returns the agent card.', { on: ['card'] }),
  should('14.3-no-secrets', 'The card holds no credentials and nothing of the inside.', { on: ['card'] }),
  should('14.3-https', 'The card can be had over https.', {
    on: ['card'],
    elsewhere: 'The proxy in front ends TLS.',
  }),
  must('14.3-extended', 'An extended card is for those who may have it.'),
  should('A.2-current', 'Answers hold the current forms only.', { on: ['JSON-RPC', 'HTTP+JSON', 'card'] }),
  should('A.2.1-no-kind', 'No object has a `kind`.', { on: ['JSON-RPC', 'HTTP+JSON', 'card'] }),
];
