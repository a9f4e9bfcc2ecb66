import { arm } from './arm.ts';
import { FAULTS } from './matrix.ts';

/* The operator's command line, started so that it dies at the point that the first argument names. */

const [point = ''] = process.argv.splice(2, 1);
const fault = FAULTS.get(point);
if (!fault) throw new Error(`no such point: ${point}`);
arm(point, fault);
await import('../../src/ops.ts');
