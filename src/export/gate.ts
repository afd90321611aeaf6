/** Something to wait for. It opens once and stays open. */
export class Gate {
  readonly opened: Promise<void>;
  private readonly stop: AbortSignal;
  private resolve: () => void = () => undefined;
  private readonly onStop = (): void => this.open();

  /** @param stop opens it too, so that nobody waits forever */
  constructor(stop: AbortSignal) {
    this.stop = stop;
    this.opened = new Promise((resolve) => {
      this.resolve = resolve;
    });
    if (stop.aborted) this.open();
    else stop.addEventListener('abort', this.onStop, { once: true });
  }

  open(): void {
    this.stop.removeEventListener('abort', this.onStop);
    this.resolve();
  }
}
