import { didYouMean } from '../core/did-you-mean.ts';
import { UsageError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { Endpoint } from './endpoint.ts';
import { accountEndpoints } from './endpoints/account-endpoints.ts';
import { chainEndpoints } from './endpoints/chain-endpoints.ts';
import { operationEndpoints } from './endpoints/operation-endpoints.ts';
import { serviceEndpoints } from './endpoints/service-endpoints.ts';
import { tokenEndpoints } from './endpoints/token-endpoints.ts';

/** Every endpoint, by the name of its client function. */
export const endpoints = {
  ...chainEndpoints,
  ...operationEndpoints,
  ...accountEndpoints,
  ...tokenEndpoints,
  ...serviceEndpoints,
};

export type Endpoints = typeof endpoints;
export type EndpointName = keyof Endpoints;

export function endpointOf(name: EndpointName): Endpoint {
  return endpoints[name];
}

export const endpointNames: readonly EndpointName[] = Object.keys(endpoints).filter(isEndpointName);

function isEndpointName(name: string): name is EndpointName {
  return Object.hasOwn(endpoints, name);
}

/** The endpoint that a pipeline declares: `GET /blocks`. @throws {UsageError} as `endpointByPath` */
export function declaredEndpoint(text: string): Endpoint {
  const [method, path = ''] = text.split(' ');
  try {
    return endpointOf(endpointByPath(path, method === 'POST' ? 'POST' : 'GET'));
  } catch (error) {
    throw error instanceof UsageError
      ? error.with({ problem: `expected an endpoint, got ${JSON.stringify(text)}` })
      : error;
  }
}

/**
 * The endpoint of a path, with or without leading slash. If a path has two methods, the default is GET.
 *
 * @throws {UsageError} with the nearest valid path
 */
export function endpointByPath(path: string, method?: Endpoint['method']): EndpointName {
  const asked = path.replace(/^\/+|\/+$/g, '');
  const found = endpointNames.filter((name) => endpointOf(name).path === `/${asked}`);
  const by = (wanted: Endpoint['method']) => found.find((candidate) => endpointOf(candidate).method === wanted);
  const name = method === undefined ? (by('GET') ?? found[0]) : by(method);
  if (name !== undefined) return name;
  if (found[0] !== undefined) {
    throw usage(`${endpointOf(found[0]).method} for ${asked}`, method);
  }
  const paths = endpointNames.map((candidate) => endpointOf(candidate).path.slice(1));
  throw usage('an endpoint', JSON.stringify(asked), `${didYouMean(asked, paths)}${suggest('api')} lists them all`);
}
