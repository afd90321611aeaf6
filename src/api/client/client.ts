import type { Source } from '../../http/source.ts';
import { endpointNames, endpointOf } from '../endpoints.ts';
import type { JsonValue } from '../field.ts';
import { type Given, planRequest } from './build-request.ts';
import type { CallOptions, Client } from './client-types.ts';
import { readAnswer } from './read-answer.ts';

/**
 * A function for each endpoint of the API. Parameters are checked before a request is sent; 64-bit integers of answers are
 * bigint, amounts and logical times stay decimal text. `limit` is 100 unless given. An answer of 404 that means no rows comes as
 * an empty list; a block that is not indexed yet is waited for as long as the source says.
 *
 * Each function throws a UsageError for parameters that cannot be, a SourceError when the source gives no usable answer, and a
 * DecodeError when the answer is of another shape.
 *
 * @example
 * const { blocks } = await createClient(source).blocks({ mc_seqno: 47670702, limit: 1000 });
 */
export function createClient(source: Source): Client {
  const functions = endpointNames.map((name) => {
    const endpoint = endpointOf(name);
    const call = async (given: Given = {}, options: CallOptions = {}): Promise<JsonValue> =>
      source.fetch(planRequest(endpoint, given), (answer) => readAnswer(endpoint, answer), {
        signal: options.signal,
        ...(endpoint.sends === true ? { attempts: 1 } : {}),
      });
    return [name, call] as const;
  });
  // Types and functions come from the same table; `readAnswer` has checked the shape, the API's description tells the fields.
  return Object.fromEntries<unknown>(functions) as Client;
}
