import type { Citation } from './citations.ts';
import type { Requirement } from './row.ts';

const ID = /^(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)-[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** What keeps the list and the tests from saying the truth about each other, one sentence each. */
export function faultsOf(requirements: readonly Requirement[], citations: readonly Citation[]): readonly string[] {
  const known = new Set<string>();
  const faults: string[] = [];
  for (const { id } of requirements) {
    if (!ID.test(id)) faults.push(`${id} is no id`);
    if (known.has(id)) faults.push(`${id} is there twice`);
    known.add(id);
  }
  const proved = new Set<string>();
  for (const { file, title, ids, idle } of citations) {
    for (const id of ids) {
      if (!known.has(id)) faults.push(`${file} cites ${id}, which does not exist: ${title}`);
      if (idle) faults.push(`${file} cites ${id} in a test that does not run: ${title}`);
      else proved.add(id);
    }
  }
  for (const requirement of requirements) {
    const { id, level } = requirement;
    const excuses = excusesOf(requirement);
    if (excuses.length > 1) faults.push(`${id} has two reasons why no test proves it`);
    if (excuses.some((reason) => !/^\S+ .*\.$/s.test(reason))) faults.push(`${id} has a reason that is no sentence`);
    if (level === 'must' && requirement.notMet !== undefined) faults.push(`${id} is a MUST that is not met`);
    if (excuses.length === 0 && !proved.has(id)) faults.push(`${id} is a ${level.toUpperCase()} that no test cites`);
    if (excuses.length > 0 && proved.has(id)) faults.push(`${id} is cited by a test and excused all the same`);
  }
  return faults;
}

function excusesOf({ notMet, notOffered, elsewhere }: Requirement): readonly string[] {
  return [notMet, notOffered, elsewhere].filter((reason) => reason !== undefined);
}
