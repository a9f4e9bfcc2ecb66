import type { Telemetry } from '../../core/ports/telemetry.ts';

/** Says and counts nothing, for tests that are about something else. */
export const silentTelemetry: Telemetry = {
  event() {},
  count() {},
  gauge() {},
  observe() {},
};
