/** A copy without undefined properties, for types and files where an absent property must not be `undefined`. */
export function omitUndefined<T extends object>(given: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const filled = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(filled) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
