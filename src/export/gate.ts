/** Something to wait for. It opens once and stays open. */
export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** @param stop opens the gate too, so that nobody waits forever. Default: nothing else opens it */
export function closedGate(stop?: AbortSignal): Gate {
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
