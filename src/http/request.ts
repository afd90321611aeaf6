import { SourceError } from '../core/errors.ts';

/** One question to the source. */
export interface SourceRequest {
  /** Default `GET`. */
  readonly method?: 'GET' | 'POST' | undefined;
  /** Path below the base URL, with a leading slash: `/blocks`. */
  readonly path: string;
  /** Parameters in the order they are sent; a list repeats its name. No value may be empty. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** JSON text of a POST. */
  readonly body?: string | undefined;
  /**
   * What a 404 means. `wait`: not indexed yet, or a hole, so ask again until the wait time is over. `answer`: no rows,
   * handed out with status 404. By default it is an error. A 404 that is not the API's own is always an error.
   */
  readonly missing?: 'wait' | 'answer' | undefined;
  /** Who asks for what, for messages: `transactions 1005`. Default: the path. */
  readonly label?: string | undefined;
}

/** What the source said. */
export interface Answer {
  readonly status: number;
  /** Decompressed. */
  readonly body: Buffer;
  /** Size of the body as it came over the wire, before decompression. */
  readonly wireBytes: number;
  /** `GET /blocks?mc_seqno=5&limit=1000`: no host and no key, so it may be stored and printed. */
  readonly request: string;
}

/**
 * Path and query as they stand in the request line.
 *
 * @throws {SourceError} when a value is empty: the server drops such a filter without a word.
 */
export function formatTarget(request: SourceRequest): string {
  const pairs = request.query.map(([name, value]) => {
    if (value === '') {
      throw new SourceError(`source ${labelOf(request)}: expected a value for parameter ${name}, got an empty string`, {
        code: 'empty-parameter',
      });
    }
    return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  });
  return pairs.length === 0 ? request.path : `${request.path}?${pairs.join('&')}`;
}

/** The label of a request, or its path without the leading slash. */
export function labelOf(request: SourceRequest): string {
  return request.label ?? request.path.replace(/^\//, '');
}

/** `GET /blocks?seqno=5`, as answers and errors name a request. @param target of {@link formatTarget} */
export function nameRequest(request: SourceRequest, target = formatTarget(request)): string {
  return `${request.method ?? 'GET'} ${target}`;
}
