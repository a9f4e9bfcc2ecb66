import { createScriptedAgent } from './scripted.ts';

export const agent = createScriptedAgent('rerun');
