/** What others wait for; it opens once, and for good. */
export class Gate {
  readonly opened: Promise<void>;
  private resolve: () => void = () => undefined;

  /** @param stop opens it, too, so that nobody waits for what will not come */
  constructor(stop: AbortSignal) {
    this.opened = new Promise((resolve) => {
      this.resolve = resolve;
    });
    if (stop.aborted) this.open();
    else stop.addEventListener('abort', () => this.open(), { once: true });
  }

  open(): void {
    this.resolve();
  }
}
