/** Permit to start one request. */
export interface Permit {
  /** Milliseconds on the clock of the issuer. */
  readonly startedAt: number;
  /** Term of the leader that issued it; undefined within one process. */
  readonly term?: number | undefined;
}
