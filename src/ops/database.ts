import { ConfigError } from '../config.ts';
import { CONFIG_KEYS } from '../config-schema.ts';
import { readEnvironment } from '../environment.ts';
import { type Arguments, UsageError } from './arguments.ts';

/**
 * Path of the database. Of the configuration only DATABASE_URL is looked at: whoever operates need not have the rest.
 * Throws UsageError or ConfigError.
 */
export function databasePath(args: Arguments): string {
  const given = args.text('database');
  if (given !== undefined) {
    if (!/^[a-z]{2,}:/i.test(given)) return given;
    const result = CONFIG_KEYS.DATABASE_URL.safeParse(given);
    if (!result.success) throw new UsageError('--database is a path, or sqlite:<path>');
    return result.data.path;
  }
  const set = readEnvironment(process.env)['DATABASE_URL']?.trim() || undefined;
  const result = CONFIG_KEYS.DATABASE_URL.safeParse(set);
  if (result.success) return result.data.path;
  // Not shown: it may hold a password.
  const problem = { key: 'DATABASE_URL', found: 'a value that is not shown' };
  throw new ConfigError([{ ...problem, set: result.error.issues[0]?.message ?? 'another value' }]);
}
