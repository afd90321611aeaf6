/**
 * Does work that ends early, and well, once its signal is aborted.
 *
 * @throws the reason of the signal, also if it is aborted on the way
 */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const result = await work();
  signal?.throwIfAborted();
  return result;
}
