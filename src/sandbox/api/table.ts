import { mixOf } from '../chain/mix.ts';
import { jsonText } from '../page/json.ts';
import type { SandboxAnswer, SandboxRequest } from '../server.ts';
import { Ask, type EndpointKey } from './ask.ts';
import { calls } from './calls.ts';
import { chainLists } from './chain-lists.ts';
import { ApiError } from './errors.ts';
import { eventLists } from './event-lists.ts';
import type { Endpoint } from './list.ts';
import { pendingLists } from './pending.ts';
import { stateLists } from './state-lists.ts';
import { tokenLists } from './token-lists.ts';
import type { View } from './view.ts';

/** Every endpoint of the vendored facts. */
const ENDPOINTS: Readonly<Record<EndpointKey, Endpoint>> = {
  ...calls,
  ...chainLists,
  ...eventLists,
  ...pendingLists,
  ...stateLists,
  ...tokenLists,
};

function isEndpoint(key: string): key is EndpointKey {
  return Object.hasOwn(ENDPOINTS, key);
}

/** Answers a request. @param count number of the request, which decides the order of ties */
export function answer(view: View, request: SandboxRequest, count: number): SandboxAnswer {
  try {
    const shuffle = mixOf(view.chain.seed, count, 77);
    const { path } = request;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const key = `${method} ${path}`;
    if (isEndpoint(key)) return { status: 200, body: ENDPOINTS[key](new Ask(view, request, key, shuffle)) };
    const isKnown = isEndpoint(`GET ${path}`);
    const problem = isKnown ? 'Method Not Allowed' : `Cannot ${method} ${path.slice(1)}`;
    throw new ApiError(500, `internal server error: ${problem}`);
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, body: `{"error":${jsonText(error.message)}}` };
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, body: `{"error":${jsonText(`internal server error: ${message}`)}}` };
  }
}
