import type { Check } from './check.ts';
import { DEADLINE_CHECKS } from './deadline.ts';
import { ENVELOPE_CHECKS } from './envelope.ts';
import { INVOCATION_TOKEN_CHECKS } from './invocation-token.ts';
import { KEY_SET_CHECKS } from './key-set.ts';
import { LIFECYCLE_CHECKS } from './lifecycle.ts';
import { OWNERSHIP_CHECKS } from './ownership.ts';
import { RESUME_CHECKS } from './resume.ts';
import { STREAM_CHECKS } from './stream.ts';
import { TASK_CHECKS } from './task.ts';
import { USER_TOKEN_CHECKS } from './user-token.ts';

/** The readiness table, in the order in which it is printed. */
export const CHECKS: readonly Check[] = [
  ...INVOCATION_TOKEN_CHECKS,
  ...ENVELOPE_CHECKS,
  ...TASK_CHECKS,
  ...OWNERSHIP_CHECKS,
  ...STREAM_CHECKS,
  ...RESUME_CHECKS,
  ...DEADLINE_CHECKS,
  ...USER_TOKEN_CHECKS,
  ...LIFECYCLE_CHECKS,
  ...KEY_SET_CHECKS,
];
