import { arm } from './arm.ts';
import { FAULTS } from './matrix.ts';

/*
 * Loaded before the shipped program, which knows nothing of it and dies at the point that this module's address names. Node
 * loads it in every thread of the program before anything else.
 */

const point = new URL(import.meta.url).searchParams.get('point') ?? '';
const fault = FAULTS.get(point);
if (!fault) throw new Error(`no such point: ${point}`);
arm(point, fault);
