import type { Source } from '../http/source.ts';

/** Counts the requests of a source since the last call. */
export type RequestMeter = () => { readonly requests: number; readonly retries: number };

export function requestMeter(source: Source): RequestMeter {
  let before = source.counts;
  return () => {
    const { counts } = source;
    const taken = { requests: counts.requests - before.requests, retries: counts.retries - before.retries };
    before = counts;
    return taken;
  };
}
