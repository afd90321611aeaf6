import { setMaxListeners } from 'node:events';

/** A signal that is aborted with any of several others, until it is released. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Must be called: otherwise a long-lived signal keeps all linked ones in memory, as AbortSignal.any does on Node 20. */
  release(): void;
}

export function linkSignals(signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const links: (readonly [AbortSignal, () => void])[] = [];
  // Many requests share one signal, so disable the leak warning.
  setMaxListeners(0, controller.signal);
  for (const signal of signals) {
    if (signal === undefined) continue;
    const follow = (): void => controller.abort(signal.reason);
    setMaxListeners(0, signal);
    if (signal.aborted) follow();
    signal.addEventListener('abort', follow, { once: true });
    links.push([signal, follow]);
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      for (const [signal, follow] of links) signal.removeEventListener('abort', follow);
    },
  };
}
