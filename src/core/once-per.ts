/** A function that computes its result once for each object, and keeps it as long as the object. */
export function oncePer<Key extends object, Result>(make: (key: Key) => Result): (key: Key) => Result {
  const made = new WeakMap<Key, { readonly result: Result }>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known.result;
    const result = make(key);
    made.set(key, { result });
    return result;
  };
}
