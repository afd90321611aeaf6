import { type Effects, realEffects } from '../../core/effects.ts';
import { openSession, type Session, type SessionOptions } from '../../http/session.ts';
import type { Source } from '../../http/source.ts';
import { endpointNames, endpointOf } from '../endpoints.ts';
import type { JsonValue } from '../field.ts';
import { type Given, planRequest } from './build-request.ts';
import type { CallOptions, Client } from './client-types.ts';
import { readResponse } from './read-response.ts';

export interface ApiOptions extends Omit<SessionOptions, 'effects' | 'priority' | 'names' | 'command' | 'witness'> {
  readonly effects?: Effects | undefined;
}

/** An open network with its client. */
export interface Api extends Omit<Session, 'renew'> {
  readonly client: Client;
}

/**
 * Opens a network for calls; responses include the address book and metadata. For `sandbox` it starts a server in this process. Sends
 * no request yet.
 *
 * @throws {UsageError} for an unknown network, or an invalid key or proxy
 */
export async function openApi(options: ApiOptions): Promise<Api> {
  const { effects = realEffects } = options;
  const session = await openSession({
    ...options,
    effects,
    priority: 'interactive',
    names: true,
    command: 'tonlake api',
  });
  return { ...session, client: createClient(session.source) };
}

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
