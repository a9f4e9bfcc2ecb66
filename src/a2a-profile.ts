import type { EdgeProfile } from '../core/ports/edge.ts';
import type { A2aConfig } from './config.ts';

/** How the generic A2A edge behaves once the caller is known. */
export function a2aProfile(config: A2aConfig): EdgeProfile {
  return {
    name: 'a2a',
    contextPolicy: 'parallel',
    waitMs: config.waitMs,
    streamDeadlineMs: config.streamDeadlineMs,
    messageAnswers: true,
    subscribeEnds: 'terminal',
    subscribeFinished: 'error',
    lastEventId: true,
  };
}
