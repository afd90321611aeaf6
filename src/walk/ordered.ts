/**
 * Calls `load` for each key, up to `ahead` of them at once, and hands out the results in the order of the keys. Stops calling as
 * soon as the consumer stops, and lets what is under way end before it returns.
 *
 * @throws whatever `load` throws, at the place of its key
 */
export async function* inOrder<K, V>(
  keys: Iterable<K>,
  ahead: number,
  load: (key: K, signal: AbortSignal) => Promise<V>,
): AsyncGenerator<{ readonly key: K; readonly value: V }> {
  const waiting: { readonly key: K; readonly result: Promise<V> }[] = [];
  const stop = new AbortController();
  const iterator = keys[Symbol.iterator]();
  const top = (): void => {
    while (waiting.length < ahead) {
      const next = iterator.next();
      if (next.done === true) return;
      const result = load(next.value, stop.signal);
      // A rejection is seen when its turn comes; until then it must not count as unhandled.
      result.catch(() => undefined);
      waiting.push({ key: next.value, result });
    }
  };
  try {
    for (top(); waiting.length > 0; top()) {
      const { key, result } = waiting[0] as { readonly key: K; readonly result: Promise<V> };
      const value = await result;
      waiting.shift();
      yield { key, value };
    }
  } finally {
    stop.abort();
    await Promise.allSettled(waiting.map(({ result }) => result));
  }
}

/** Every seqno of some spans, ascending. */
export function* seqnosOf(spans: readonly { readonly from: number; readonly to: number }[]): Generator<number> {
  for (const { from, to } of spans) for (let seqno = from; seqno <= to; seqno++) yield seqno;
}
