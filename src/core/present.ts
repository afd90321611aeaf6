/** The properties that have a value, for types and files in which one that is absent must not be `undefined`. */
export function present<T extends object>(given: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const filled = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(filled) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
