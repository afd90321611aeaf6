import type { Source } from '../http/source.ts';

/** Counts the requests of a source between commits. */
export class RequestMeter {
  private readonly source: Source;
  private requests: number;
  private retries: number;

  constructor(source: Source) {
    this.source = source;
    const { requests, retries } = source.counts;
    this.requests = requests;
    this.retries = retries;
  }

  take(): { readonly requests: number; readonly retries: number } {
    const { requests, retries } = this.source.counts;
    const taken = { requests: requests - this.requests, retries: retries - this.retries };
    this.requests = requests;
    this.retries = retries;
    return taken;
  }
}
