/** What stands at a path of some JSON: `fields.status.name`, `issues.*.key` for each of a list. Undefined off the way. */
export function at(json: unknown, path: string): unknown {
  return descend(json, path.split('.'));
}

function descend(json: unknown, steps: readonly string[]): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return json;
  if (step === '*') return Array.isArray(json) ? json.map((one) => descend(one, rest)) : undefined;
  if (typeof json !== 'object' || json === null) return undefined;
  return descend((json as Readonly<Record<string, unknown>>)[step], rest);
}
