import { BINDINGS } from './requirements/bindings.ts';
import { DATA_MODEL } from './requirements/data-model.ts';
import { DISCOVERY } from './requirements/discovery.ts';
import { OPERATIONS } from './requirements/operations.ts';
import type { Requirement } from './requirements/row.ts';
import { SECURITY } from './requirements/security.ts';

/*
 * What A2A 1.0 (docs/specification.md and specification/a2a.proto after 1.0.1) says that a server must or should do:
 * every MUST, SHOULD and their like, in any case, and the errors that an operation is said to answer with. What it asks
 * of clients, of SDKs and of its own editors is not here. A test that proves one names it at the end of its own name, in
 * brackets: `ListTasks: newest first [3.1.4-order]`. docs/conformance.md shows what no test proves, and why.
 */
export const REQUIREMENTS: readonly Requirement[] = [
  ...OPERATIONS,
  ...DATA_MODEL,
  ...SECURITY,
  ...DISCOVERY,
  ...BINDINGS,
];
