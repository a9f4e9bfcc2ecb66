import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError, type Environment } from './config.ts';

/**
 * The variables of the process over those of a `.env` file. A variable of the process wins also when it is blank, so
 * that one can switch off what the file sets. No file is no problem; one that cannot be read is a ConfigError.
 */
export function readEnvironment(own: Environment, file = '.env'): Environment {
  try {
    return { ...parseEnv(readFileSync(file, 'utf8')), ...own };
  } catch (error) {
    if (error instanceof Error && 'code' in error) {
      if (error.code === 'ENOENT') return own;
      throw new ConfigError([{ key: file, found: String(error.code), set: 'its permissions so that it can be read' }]);
    }
    throw error;
  }
}
