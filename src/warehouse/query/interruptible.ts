/** Interval at which an interruption is repeated, because one between two statements of DuckDB has no effect. */
const INTERRUPT_MS = 50;

/** Runs `work`, whose queries an abort interrupts. @throws the reason of the signal */
export async function interruptible<T>(
  queries: { interrupt(): void },
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const repeat = setInterval(() => signal.aborted && queries.interrupt(), INTERRUPT_MS);
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearInterval(repeat);
  }
}
