/** What a column does not hold is absent. */
export function present<K extends string, V>(key: K, value: V | null): { readonly [key in K]?: V } {
  return value === null ? {} : ({ [key]: value } as { readonly [key in K]: V });
}
