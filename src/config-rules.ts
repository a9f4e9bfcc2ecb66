import type { ConfigKey, ConfigValues } from './config-schema.ts';
import { isLoopback } from './config-values.ts';

/** One thing that keeps the service from starting. */
export interface ConfigProblem {
  readonly key: string;
  /** What is there now, never a secret. */
  readonly found: string;
  /** What to set instead. */
  readonly set: string;
}

/** What could be read: a key whose own value is refused is absent, and rules about it are left alone. */
export interface Readings {
  readonly values: Partial<ConfigValues>;
  /** Is the variable set at all, well or badly? */
  given(key: ConfigKey): boolean;
}

/** Relations between variables. Each is judged on its own, so that all of them are listed at once. */
export function relationProblems(readings: Readings): readonly ConfigProblem[] {
  return RULES.flatMap((rule) => rule(readings));
}

const RULES: readonly ((readings: Readings) => readonly ConfigProblem[])[] = [
  function anEdgeIsOn({ values, given }) {
    if (given('FORGE_APP_ID') || values.A2A_AUTH !== 'off') return [];
    return [
      {
        key: 'FORGE_APP_ID',
        found: 'nothing, and A2A_AUTH is off: nobody could call the service',
        set: 'the app id of manifest.yml to serve Rovo, or A2A_AUTH=jwt (or anonymous, on this machine only) to serve A2A',
      },
    ];
  },

  function jwtHasItsKeys({ values, given }) {
    if (values.A2A_AUTH !== 'jwt') return [];
    const needed = {
      A2A_JWT_ISSUER: 'the issuer of the tokens, as in their iss',
      A2A_JWT_AUDIENCE: 'the audience that tokens for this service name, as in their aud',
      A2A_JWKS_URL: "the https URL of the issuer's key set",
    } as const satisfies Partial<Record<ConfigKey, string>>;
    return (Object.keys(needed) as (keyof typeof needed)[])
      .filter((key) => !given(key))
      .map((key) => ({ key, found: 'nothing, and A2A_AUTH is jwt', set: needed[key] }));
  },

  // Without authentication the only fence is that nobody else can connect.
  function anonymousStaysOnLoopback({ values }) {
    if (values.A2A_AUTH !== 'anonymous') return [];
    const problems: ConfigProblem[] = [];
    const set = 'a loopback one such as 127.0.0.1, or A2A_AUTH=jwt';
    if (values.HOST !== undefined && !isLoopback(values.HOST)) {
      problems.push({ key: 'HOST', found: `${values.HOST}, and A2A_AUTH is anonymous`, set });
    }
    if (values.PUBLIC_URL !== undefined && !isLoopback(new URL(values.PUBLIC_URL).hostname)) {
      problems.push({ key: 'PUBLIC_URL', found: `${values.PUBLIC_URL}, and A2A_AUTH is anonymous`, set });
    }
    if (values.GRPC_URL !== undefined && !isLoopback(new URL(`http://${values.GRPC_URL}`).hostname)) {
      problems.push({ key: 'GRPC_URL', found: `${values.GRPC_URL}, and A2A_AUTH is anonymous`, set });
    }
    return problems;
  },

  // One process cannot look into the memory of another.
  function splitRolesSealTokens({ values, given }) {
    if (values.ROLE === undefined || values.ROLE === 'all' || given('CREDENTIALS_KEY')) return [];
    return [
      {
        key: 'CREDENTIALS_KEY',
        found: `nothing, and ROLE is ${values.ROLE}: user tokens could not reach the other process`,
        set: '32 random bytes as base64 (openssl rand -base64 32), the same on every process, or ROLE=all',
      },
    ];
  },

  function waitEndsBeforeTheDeadline({ values, given }) {
    const { ROVO_WAIT_MS: wait, ROVO_SYNC_DEADLINE_MS: deadline } = values;
    if (!given('ROVO_WAIT_MS') || wait === undefined || deadline === undefined || wait <= deadline) return [];
    return [{ key: 'ROVO_WAIT_MS', found: String(wait), set: `at most ROVO_SYNC_DEADLINE_MS, which is ${deadline}` }];
  },

  function portsDiffer({ values }) {
    const ports = [
      ['PORT', values.PORT],
      ['OPS_PORT', values.OPS_PORT],
      ['GRPC_PORT', values.GRPC_PORT],
    ] as const;
    return ports.flatMap(([key, port], index) => {
      const same = port && ports.slice(0, index).find(([, other]) => other === port);
      return same ? [{ key, found: `${port}, which is ${same[0]}`, set: 'another port, or nothing' }] : [];
    });
  },
];
