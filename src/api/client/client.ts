import type { Source } from '../../http/source.ts';
import { endpointNames, endpointOf } from '../endpoints.ts';
import type { JsonValue } from '../field.ts';
import { type Given, planRequest } from './build-request.ts';
import type { CallOptions, Client } from './client-types.ts';
import { readResponse } from './read-response.ts';

/**
 * A function for each endpoint of the API. Parameters are checked before the request; 64-bit integers of responses are bigint,
 * amounts and logical times are decimal text. `limit` is 100 by default. A 404 that means no rows returns an empty list; calls wait for
 * blocks that are not indexed yet.
 *
 * Each function throws a UsageError for invalid parameters, a SourceError without a usable response, and a DecodeError for a response
 * of another shape.
 *
 * @example
 * const { blocks } = await createClient(source).blocks({ mc_seqno: 47670702, limit: 1000 });
 */
export function createClient(source: Source): Client {
  const functions = endpointNames.map((name) => {
    const endpoint = endpointOf(name);
    const call = async (given: Given = {}, options: CallOptions = {}): Promise<JsonValue> =>
      source.fetch(planRequest(endpoint, given), (response) => readResponse(endpoint, response), {
        signal: options.signal,
        ...(endpoint.sends === true ? { attempts: 1 } : {}),
      });
    return [name, call] as const;
  });
  // Types and functions come from the same schema; `readResponse` checks the shape.
  return Object.fromEntries<unknown>(functions) as Client;
}
