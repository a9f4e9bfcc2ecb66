import { must, type Requirement, should } from './row.ts';

const CARD = { on: ['card'] } as const;

/** Section 8: the agent card, its signature, its caching. */
export const DISCOVERY: readonly Requirement[] = [
  must('8.1-card', 'There is an agent card.', CARD),
  must('8.3-protocols', 'It declares what is spoken.', CARD),
  should('8.3.1-preference', 'Its interfaces are all there, the preferred ones first.', CARD),
  must('8.3.1-accurate', 'Binding and URL of each interface are true.', CARD),
  must('8.4.1-jcs', 'What is signed is the card in the canonical form of RFC 8785.', CARD),
  must('8.4.1-unset', 'Optional fields that were not set are left out of it.', CARD),
  must('8.4.1-set', 'Optional fields that were set are in it, also with their default value.', CARD),
  must('8.4.1-required', 'Required fields are in it, whatever their value.', {
    ...CARD,
    limits: 'No required field of our card may be empty, so that clients which drop empty ones read the same bytes.',
  }),
  must('8.4.1-defaults', 'Other fields with a default value are left out of it.', CARD),
  must('8.4.1-signatures', 'The signatures are no part of it.', CARD),
  must('8.4.2-header', 'The protected header names algorithm and key.', CARD),
  should('8.4.2-typ', 'Its type is JOSE.', CARD),
  should('8.4.3-secure-keys', 'Public keys are fetched over a secure channel.', {
    ...CARD,
    limits: '`jku` is below PUBLIC_URL, which has to be https in production.',
  }),
  must('8.4.3-revoked', 'Keys that expired or were revoked verify nothing.', {
    ...CARD,
    elsewhere: 'Clients verify; the key set holds the one key that signs now.',
  }),
  should('8.6-caching', 'The standard means of HTTP keep clients from fetching an unchanged card.', CARD),
  should('8.6.1-cache-control', 'The card has a Cache-Control with max-age.', CARD),
  should('8.6.1-etag', 'The card has an ETag made of its version or content.', CARD),
];
