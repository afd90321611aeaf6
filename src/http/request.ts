import { SourceError } from '../core/errors.ts';

/** A request to the source. */
export interface SourceRequest {
  /** Default `GET`. */
  readonly method?: 'GET' | 'POST' | undefined;
  /** Path below the base URL, with a leading slash: `/blocks`. */
  readonly path: string;
  /** Parameters in the order in which they are sent; a list repeats its name. No value may be empty. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** JSON text of a POST. */
  readonly body?: string | undefined;
  /**
   * Meaning of a 404. `wait`: not indexed yet, so poll until the wait time is over. `answer`: no rows, returned with status 404.
   * Default: an error. A 404 that is not from the API itself is always an error.
   */
  readonly missing?: 'wait' | 'answer' | undefined;
  /** For messages: `transactions 1005`. Default: the path. */
  readonly label?: string | undefined;
}

/** A usable response. */
export interface SourceResponse {
  readonly status: number;
  /** Decompressed. */
  readonly body: Buffer;
  /** `GET /blocks?mc_seqno=5&limit=1000`, without host and key: safe to store and print. */
  readonly request: string;
}

/**
 * Path and query of the request line.
 *
 * @throws {SourceError} for an empty value: the server silently ignores such a filter.
 */
export function formatTarget(request: SourceRequest): string {
  const pairs = request.query.map(([name, value]) => {
    if (value === '') {
      throw new SourceError(`source ${labelOf(request)}: expected a value for parameter ${name}, got an empty string`);
    }
    return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  });
  return pairs.length === 0 ? request.path : `${request.path}?${pairs.join('&')}`;
}

/** The label of a request, or its path without the leading slash. */
export function labelOf(request: SourceRequest): string {
  return request.label ?? request.path.replace(/^\//, '');
}

/** `GET /blocks?seqno=5`, as responses and errors name a request. @param target of {@link formatTarget} */
export function nameRequest(request: SourceRequest, target = formatTarget(request)): string {
  return `${request.method ?? 'GET'} ${target}`;
}
