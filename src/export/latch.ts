/** A one-time event that others wait for: it opens once and stays open. */
export interface Latch {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** A closed latch. @param stop opens it as well, so that nobody waits forever. Default: none */
export function newLatch(stop?: AbortSignal): Latch {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = () => {
      stop?.removeEventListener('abort', open);
      resolve();
    };
  });
  if (stop?.aborted === true) open();
  else stop?.addEventListener('abort', open, { once: true });
  return { opened, open };
}
