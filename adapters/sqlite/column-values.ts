/** What a column does not hold is absent. */
export function present<K extends string, V>(key: K, value: V | null): { readonly [key in K]?: V } {
  return value === null ? {} : ({ [key]: value } as { readonly [key in K]: V });
}

/** While it is put together: spreading what may be absent into it costs more than all the rest of a row. */
export type Unfinished<T> = { -readonly [K in keyof T]: T[K] };
