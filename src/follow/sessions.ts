import { addCounts } from '../core/counts.ts';
import type { Session } from '../http/session.ts';
import type { SourceCounts } from '../http/source.ts';

/** The session of a long export. It is opened anew when its key was refused, which reads the key again. */
export class Sessions {
  private readonly openOne: () => Promise<Session>;
  private current: Session | undefined;
  private before: SourceCounts = { requests: 0, retries: 0, bytes: 0, byPath: {}, byOutcome: {} };

  constructor(openOne: () => Promise<Session>) {
    this.openOne = openOne;
  }

  /** Opens a session in place of the last one. @throws {UsageError} as `openSession`; the last one stays open then */
  async open(): Promise<Session> {
    const next = await this.openOne();
    await this.close();
    this.current = next;
    return next;
  }

  /** Requests of all sessions. */
  get counts(): SourceCounts {
    return this.current === undefined ? this.before : addRequests(this.before, this.current.source.counts);
  }

  async close(): Promise<void> {
    this.before = this.counts;
    const last = this.current;
    this.current = undefined;
    await last?.close();
  }
}

/** Requests of several sources together. */
export function addRequests(a: SourceCounts, b: SourceCounts): SourceCounts {
  return {
    ...{ requests: a.requests + b.requests, retries: a.retries + b.retries, bytes: a.bytes + b.bytes },
    ...{ byPath: addCounts(a.byPath, b.byPath), byOutcome: addCounts(a.byOutcome, b.byOutcome) },
  };
}
