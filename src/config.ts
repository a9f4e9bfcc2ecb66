import { arrange } from './config-arrangement.ts';
import { type ConfigProblem, type Readings, relationProblems } from './config-rules.ts';
import { CONFIG_KEYS, type ConfigKey, type ConfigValues, keyNotes } from './config-schema.ts';
import type { Database } from './config-values.ts';
import { configWarnings } from './config-warnings.ts';
import type { SigningKey } from './signing-key.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface RovoConfig {
  /** Full ARI of the app: the audience of its tokens. Never empty. */
  readonly appId: string;
  readonly jwksUrl: string;
  readonly versions: readonly ('1.0' | '0.3')[];
  /** At most syncDeadlineMs. */
  readonly waitMs: number;
  readonly syncDeadlineMs: number;
  readonly streamDeadlineMs: number;
  readonly chatDeadlineMs: number;
  readonly itemDeadlineMs: number;
  /** Lower case, with a port where it is not the scheme's own. */
  readonly apiHosts: readonly string[];
  /** Absent: any module of the app. */
  readonly moduleKeys?: readonly string[];
}

export type A2aAuthConfig =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'jwt';
      readonly issuer: string;
      readonly audience: string;
      readonly jwksUrl: string;
      /** Absent: the issuer is one tenant. */
      readonly tenantClaim?: string;
    };

export interface A2aConfig {
  readonly auth: A2aAuthConfig;
  readonly waitMs: number;
  readonly streamDeadlineMs: number;
  readonly taskDeadlineMs: number;
  readonly versions: readonly ('1.0' | '0.3')[];
  readonly streaming: boolean;
  /** Is HTTP+JSON served beside JSON-RPC? */
  readonly httpJson: boolean;
  /** Absent: gRPC is off. */
  readonly grpc?: {
    /** 0: the system chooses. */
    readonly port: number;
    /** `host:port`; absent: it follows from the public URL and the port. */
    readonly address?: string;
  };
  /** Absent: push notification configs are refused. */
  readonly push?: {
    /** Lower case. Exempt from the rules about private addresses and https. */
    readonly allowedHosts: readonly string[];
  };
  /** URIs that every call has to activate. */
  readonly requiredExtensions: readonly string[];
  /** Absent: the card is not signed. */
  readonly signingKey?: SigningKey;
}

export interface LimitsConfig {
  readonly connections: number;
  readonly requests: number;
  readonly requestsPerPrincipal: number;
  readonly streams: number;
  readonly streamsPerPrincipal: number;
  readonly bodiesBytes: number;
  readonly answersBytes: number;
  readonly queued: number;
  readonly queuedPerTenant: number;
}

export interface Config {
  readonly logLevel: ConfigValues['LOG_LEVEL'];
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** Without a slash at the end. */
  readonly publicUrl: string;
  /** publicUrl was derived from the port, so it is to be derived again when the system chose one. */
  readonly publicUrlDerived: boolean;
  readonly database: Database;
  readonly role: ConfigValues['ROLE'];
  readonly maxBodyBytes: number;
  readonly limits: LimitsConfig;
  readonly drainMs: number;
  readonly helpUrl?: string;
  readonly ops: { readonly token?: string; readonly port?: number };
  readonly agent: {
    /** `brief`, or `module:` and a path or the name of a package. */
    readonly source: string;
    readonly id: string;
    readonly concurrency: number;
    /** Absent: one tenant may have them all. */
    readonly concurrencyPerTenant?: number;
    readonly leaseMs: number;
  };
  readonly parkedMaxMs: number;
  readonly retentionMs: number;
  /** 32 bytes each, the first seals. Empty: user tokens stay in memory. */
  readonly credentialsKeys: readonly Uint8Array[];
  /** Absent: the edge is off. At least one of the two is on. */
  readonly rovo?: RovoConfig;
  readonly a2a?: A2aConfig;
  /** For the log, at the start. */
  readonly warnings: readonly string[];
}

/** Everything that is wrong with the configuration. The process ends with exitCode before it listens. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];
  /** EX_CONFIG of sysexits.h. */
  readonly exitCode = 78;

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ key, found, set }) => `  ${key}: found ${found}; set ${set}`).join('\n');
    super(`The configuration cannot be used:\n${lines}\nEvery setting is explained in docs/configuration.md`);
    this.problems = problems;
  }
}

/** Reads and judges the variables. Blank ones count as unset. Throws ConfigError with every problem. */
export function loadConfig(env: Environment): Config {
  const text = (name: string) => env[name]?.trim() || undefined;
  const values: Partial<Record<ConfigKey, unknown>> = {};
  const problems: ConfigProblem[] = [];
  for (const [key, schema] of Object.entries(CONFIG_KEYS) as [ConfigKey, (typeof CONFIG_KEYS)[ConfigKey]][]) {
    const result = schema.safeParse(text(key));
    if (result.success) values[key] = result.data;
    else problems.push({ key, found: show(key, text(key)), set: result.error.issues[0]?.message ?? 'another value' });
  }
  const readings: Readings = { values: values as Partial<ConfigValues>, given: (key) => text(key) !== undefined };
  problems.push(...relationProblems(readings));
  if (problems.length > 0) throw new ConfigError(problems);
  // Every schema succeeded, so every key holds what its schema puts out.
  const names = Object.keys(env).filter((name) => text(name) !== undefined);
  return arrange(values as unknown as ConfigValues, configWarnings(names, readings));
}

function show(key: ConfigKey, text: string | undefined): string {
  if (text === undefined) return 'nothing';
  if (keyNotes.get(CONFIG_KEYS[key])?.secret) return 'a value that is not shown';
  return JSON.stringify(text.slice(0, 80).replace(/\/\/[^/@\s]*@/, '//…@'));
}
