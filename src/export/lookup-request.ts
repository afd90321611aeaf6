import { planRequest } from '../api/client/build-request.ts';
import type { Endpoint } from '../api/endpoint.ts';
import type { PipelineOf } from '../declare/pipeline.ts';
import type { LookupWalk } from '../declare/walk.ts';
import type { SourceRequest } from '../http/request.ts';
import type { Key } from './lookup-keys.ts';

/** The request for one page of some keys. */
export function lookupRequest(
  endpoint: Endpoint,
  { name: pipeline, parameters, walk }: PipelineOf<LookupWalk>,
  keys: readonly Key[],
  offset: number,
): SourceRequest {
  const listed = walk.keys.at(-1) ?? '';
  const values: Record<string, unknown> = { ...parameters };
  for (const name of walk.keys) {
    const parameter = endpoint.parameters[name];
    const texts = keys.map((key) => key.values[name] ?? '');
    const value = name === listed && parameter?.many === true ? texts : texts[0];
    values[name] = parameter?.kind === 'stack' ? JSON.parse(String(value)) : value;
  }
  if (walk.limit !== undefined) Object.assign(values, { limit: walk.limit, ...(offset === 0 ? {} : { offset }) });
  const typed = Object.entries(values).map(([name, value]) => [name, typedValue(endpoint, name, value)]);
  const { text = '' } = keys[0] ?? {};
  const label = `${pipeline} ${text.slice(0, 80)}${keys.length > 1 ? ` and ${keys.length - 1} more` : ''}`;
  return { ...planRequest(endpoint, Object.fromEntries(typed)), label };
}

function typedValue(endpoint: Endpoint, name: string, value: unknown): unknown {
  const kind = endpoint.parameters[name]?.kind;
  if (typeof value !== 'string') return value;
  if (kind === 'bool') return value === 'true';
  return kind === 'int32' ? Number(value) : value;
}
