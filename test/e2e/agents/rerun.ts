import { createScriptedAgent } from './scripted.ts';

export const agent = {
  ...createScriptedAgent('rerun'),
  inputModes: ['text/plain', 'text/markdown', 'application/json', 'image/png'],
};
