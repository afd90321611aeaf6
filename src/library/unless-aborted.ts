/**
 * Rejects if the signal is aborted before or during work, which then ends early without an error.
 *
 * @throws the reason of the signal
 */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const result = await work();
  signal?.throwIfAborted();
  return result;
}
