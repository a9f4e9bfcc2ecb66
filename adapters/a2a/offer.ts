import type { Part as SdkPart, SendMessageRequest } from '@a2a-js/sdk';
import { DomainError, invalidParams } from '../../core/errors.ts';
import type { AgentSkill } from '../../core/ports/agent.ts';
import { mediaTypeOf } from './body-type.ts';
import { isRecord } from './envelope.ts';

/*
 * What the agent card promises is what a message is held to: media types, skills, extensions. Both read the same object,
 * so that the card cannot say one thing and the endpoint do another.
 */

export interface OfferedExtension {
  readonly uri: string;
  readonly description: string;
  readonly required: boolean;
}

export interface Offer {
  /** Media types, `text/*` and `*` with a slash and another one among them. Never empty. */
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  readonly skills: readonly AgentSkill[];
  readonly extensions: readonly OfferedExtension[];
}

/** Throws DomainError CONTENT_TYPE_NOT_SUPPORTED or INVALID_PARAMS. */
export type HoldToOffer = (request: SendMessageRequest) => void;

export function createHoldToOffer({ inputModes, outputModes, skills }: Offer): HoldToOffer {
  const skillIds = new Set<unknown>(skills.map(({ id }) => id));
  /** Types that nobody has to say, looked up once. */
  const unsaid = new Map(['text/plain', 'application/json'].map((type) => [type, isInput(type)]));

  function isInput(type: string): boolean {
    return inputModes.some((mode) => covers(mode, type));
  }

  function checkSkill(field: string, metadata: unknown): void {
    const skill = isRecord(metadata) ? metadata.skillId : undefined;
    if (skill === undefined || skillIds.has(skill)) return;
    throw invalidParams(field, 'is not a skill of the agent card');
  }

  return ({ message, configuration, metadata }) => {
    message?.parts.forEach((part, index) => {
      const type = typeOf(part);
      if (type === undefined || (unsaid.get(type) ?? isInput(type))) return;
      throw notOffered(`message.parts[${index}].mediaType`, 'is not one of the input modes', inputModes);
    });
    const accepted = (configuration?.acceptedOutputModes ?? []).filter((mode) => mode.trim() !== '');
    if (accepted.length > 0 && !accepted.some((mode) => outputModes.some((ours) => agree(ours, mode)))) {
      throw notOffered('configuration.acceptedOutputModes', 'has none of the output modes', outputModes);
    }
    checkSkill('metadata.skillId', metadata);
    checkSkill('message.metadata.skillId', message?.metadata);
  };
}

/** What a part says of itself or, for text and data, is. A file that does not say is for the agent to look at. */
function typeOf(part: SdkPart): string | undefined {
  const said = part.mediaType === '' ? '' : mediaTypeOf(part.mediaType);
  if (said !== '') return said;
  if (part.content?.$case === 'text') return 'text/plain';
  return part.content?.$case === 'data' || part.content === undefined ? 'application/json' : undefined;
}

/** A mode without a kind, such as the `text` of many clients of 0.3, is a family. */
function covers(mode: string, type: string): boolean {
  const [family, kind = '*'] = mediaTypeOf(mode).split('/');
  const [ownFamily, ownKind] = type.split('/');
  return (family === '*' || family === ownFamily) && (kind === '*' || kind === ownKind);
}

function agree(ours: string, theirs: string): boolean {
  return covers(ours, mediaTypeOf(theirs)) || covers(theirs, mediaTypeOf(ours));
}

function notOffered(field: string, fault: string, modes: readonly string[]): DomainError {
  const description = `${fault}: ${modes.join(', ')}`;
  return new DomainError('CONTENT_TYPE_NOT_SUPPORTED', 'The media type is not supported', {
    violations: [{ field, description }],
  });
}
