import type { Json } from '../../core/message.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { InvocationClaims } from './claims.ts';
import { installationUuid } from './forge-ids.ts';
import { type Installations, tenantId } from './installations.ts';
import { isObject } from './payload.ts';

/*
 * Forge's lifecycle calls. Each is one or two small commits and no call to anybody: Forge waits 5 s, then repeats. The
 * installation is always the token's; the body only says which event it is.
 */

export interface LifecycleAnswer {
  readonly status: 200;
  readonly body: { readonly ok: true };
}

/** `authenticated` has been proved for a lifecycle route. `body` is JSON, undefined when there was none to read. */
export type LifecycleHandler = (authenticated: InvocationClaims, body: Json | undefined) => Promise<LifecycleAnswer>;

export interface Lifecycle {
  /** Installed and upgraded events. An event of a removed installation is late: answered, and nothing changes. */
  readonly installed: LifecycleHandler;
  /** The last that is heard of an installation. Its work is stopped here and erased later. */
  readonly preUninstall: LifecycleHandler;
}

const EVENTS = new Set(['avi:forge:installed:app', 'avi:forge:upgraded:app']);
const OK: LifecycleAnswer = { status: 200, body: { ok: true } };

export function createLifecycle(options: {
  readonly installations: Installations;
  readonly telemetry: Telemetry;
}): Lifecycle {
  const { installations, telemetry } = options;

  function notice(claims: InvocationClaims, body: Json | undefined): void {
    if (!isObject(body) || typeof body.id !== 'string' || installationUuid(body.id) === claims.installationId) return;
    telemetry.event('warn', 'rovo.lifecycle.foreign_id', { tenant: tenantId(claims) });
  }

  return {
    async installed(claims, body) {
      notice(claims, body);
      const eventType = isObject(body) && typeof body.eventType === 'string' ? body.eventType : '';
      if (!EVENTS.has(eventType)) {
        // An answer that is not 2xx would only make Forge repeat what we do not know.
        telemetry.event('warn', 'rovo.lifecycle.unknown_event', { tenant: tenantId(claims) });
        return OK;
      }
      const active = await installations.register(claims);
      telemetry.event('info', active ? 'rovo.installed' : 'rovo.installed.late', { tenant: tenantId(claims) });
      return OK;
    },
    async preUninstall(claims, body) {
      notice(claims, body);
      await installations.remove(claims);
      telemetry.event('info', 'rovo.removed', { tenant: tenantId(claims) });
      return OK;
    },
  };
}
