import type { Peer } from './peers.ts';

/** One instruction that travels round a ring of agents. */
export interface Case {
  readonly name: string;
  /** The kit itself calls the first one, at a path that is fixed; ours has its own, so it comes later. */
  readonly sdks: readonly string[];
  readonly protocols: readonly string[];
  readonly behavior: string;
  readonly streaming: boolean;
}

/** Without the kit's fourth, push_notification: nothing is delivered to receivers yet. */
const BEHAVIORS = [
  { behavior: 'send_message', streaming: false },
  { behavior: 'send_message', streaming: true },
  { behavior: 'resubscribe', streaming: true },
] as const;

/** Each agent with ours, and all of them with ours, over every binding that they share. */
export function casesFor(peers: readonly Peer[], bindings: readonly string[]): readonly Case[] {
  const rings = [...peers.map((peer) => [peer]), ...(peers.length > 1 ? [peers] : [])];
  return rings.flatMap((ring) => {
    const sdks = [...ring.map(({ name }) => name), 'current'];
    const shared = bindings.filter((binding) => ring.every((peer) => peer.bindings.includes(binding)));
    return shared.flatMap((binding) =>
      BEHAVIORS.map(({ behavior, streaming }) => ({
        name: [sdks.join(' + '), binding, behavior, ...(streaming ? ['streaming'] : [])].join(', '),
        protocols: [binding],
        ...{ sdks, behavior, streaming },
      })),
    );
  });
}

/** Why a case fails that is no fault of ours, or undefined. One that passes has to leave this list. */
export function knownFault({ sdks, behavior, protocols }: Case): string | undefined {
  if (behavior !== 'resubscribe') return undefined;
  if (sdks.includes('python_v03')) {
    return 'the python_v03 agent reads the history of the first task of a stream, which may be absent and is';
  }
  const others = sdks.filter((sdk) => sdk !== 'current');
  return protocols.includes('http_json') && others.includes('rust_v10') && others.length > 1
    ? 'the rust_v10 agent and the other ones of the kit fail in it among themselves'
    : undefined;
}
