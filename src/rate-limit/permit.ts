/** Permit to start one request. */
export interface Permit {
  /** On the clock of whoever gave it, milliseconds. */
  readonly startedAt: number;
  /** Who gave it; absent within one process. */
  readonly term?: number | undefined;
}
