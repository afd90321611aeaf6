interface Interrupts {
  readonly signal: AbortSignal;
  close(): void;
}

/** Resolves at the first SIGINT or SIGTERM. */
export function firstInterrupt(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
  });
}

/**
 * Aborts on the first SIGINT or SIGTERM, and exits on the second; committed rows are kept in both cases.
 * @param tell called on the first, with a line for people
 */
export function watchInterrupts(tell: (line: string) => void): Interrupts {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
    tell('interrupted: stopping after the current span; press Ctrl-C again to stop at once');
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  return {
    signal: controller.signal,
    close: () => {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    },
  };
}
