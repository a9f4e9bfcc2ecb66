import type { Offer } from './set-ups.ts';

/** Reasons with which the suite skips a test because of what the card offers, and for which offer each is true. */
const REASONS: readonly (readonly [RegExp, (offer: Offer, match: RegExpExecArray) => boolean])[] = [
  [/^Agent supports streaming\b/, (offer) => offer.streaming],
  [/^Agent supports push notifications\b/, (offer) => offer.push],
  [/^Agent supports extended agent card\b/, (offer) => offer.extendedCard],
  [/^Agent does not support streaming\b/, (offer) => !offer.streaming],
  [/^Agent does not support push notifications\b/, (offer) => !offer.push],
  [/^Agent card does not declare \S+ as required$/, (offer) => !offer.requiredExtension],
  [/^Agent card does not declare capabilities for: \[(.+)\]$/, lacksAll],
  // Says something about the suite and nothing about the agent.
  [/^No requirements at this level$/, () => true],
];

const TAGS: Readonly<Record<string, (offer: Offer) => boolean>> = {
  streaming: (offer) => offer.streaming,
  'push-notification': (offer) => offer.push,
  'agent-card': (offer) => offer.extendedCard,
};

function lacksAll(offer: Offer, [, tags = '']: RegExpExecArray): boolean {
  return tags.split(',').every((tag) => {
    const offered = TAGS[tag.trim().replace(/^'|'$/g, '')];
    return offered !== undefined && !offered(offer);
  });
}

/**
 * Says whether a skipped test had nothing to say about an agent with this offer. Everything else, such as a set-up that
 * failed, or a capability that the card should have shown and did not, is a test that was not made.
 */
export function skipIsTrue(reason: string, offer: Offer): boolean {
  return REASONS.some(([pattern, holds]) => {
    const match = pattern.exec(reason);
    return match !== null && holds(offer, match);
  });
}
