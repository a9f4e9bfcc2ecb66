import { createCountingAgent } from './counting.ts';

export const agent = createCountingAgent('review');
