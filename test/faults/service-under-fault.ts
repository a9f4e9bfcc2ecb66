import { arm } from './arm.ts';
import { FAULTS } from './matrix.ts';

/*
 * The shipped program, started so that it dies at the point that the first argument names. It is loaded only after the
 * libraries at its borders are watched, and knows nothing of it.
 */

const [, , point = ''] = process.argv;
const fault = FAULTS.get(point);
if (!fault) throw new Error(`no such point: ${point}`);
arm(point, fault);
await import('../../src/main.ts');
