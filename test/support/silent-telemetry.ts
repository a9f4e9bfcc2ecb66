import { type Telemetry, withoutSpan } from '../../core/ports/telemetry.ts';

/** Says, counts and traces nothing, for tests that are about something else. */
export const silentTelemetry: Telemetry = {
  event() {},
  count() {},
  gauge() {},
  observe() {},
  span: withoutSpan,
};
