import { inspect } from 'node:util';
import { choicesFor } from '../../core/did-you-mean.ts';
import { type UsageError, usage } from '../../core/errors.ts';
import { suggest } from '../../core/suggest.ts';
import type { SourceRequest } from '../../http/request.ts';
import { type Endpoint, parametersOf } from '../endpoint.ts';
import type { JsonValue } from '../field.ts';
import { type Parameter, parameterMeanings } from '../parameter.ts';
import { bodyValue, encodeValue } from './encode-value.ts';
import { checkRules } from './parameter-rules.ts';

/** Unchecked values of parameters by name. Undefined is the same as absent. */
export type Given = Readonly<Record<string, unknown>>;

/**
 * The request of a call. Everything is checked here, because the server ignores unknown names and empty filters, and returns the
 * unfiltered list.
 *
 * @throws {UsageError} for an unknown name (with the nearest valid one), a wrong, empty or missing value, or an invalid combination
 */
export function planRequest(endpoint: Endpoint, given: Given): SourceRequest {
  const label = endpoint.path.slice(1);
  const encoded = new Map<string, readonly string[]>();
  const parameters = parametersOf(endpoint);
  const names = Object.keys(parameters);
  for (const [name, value] of Object.entries(given)) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (parameter === undefined) throw unknownParameter(label, name, names);
    if (value !== undefined) encoded.set(name, encodeParameter(label, name, parameter, value));
  }
  for (const [name, parameter] of Object.entries(parameters)) {
    if (parameter.required && !encoded.has(name)) throw missing(label, name, parameter);
    if (parameter.sent !== undefined && !encoded.has(name)) encoded.set(name, [parameter.sent]);
  }
  checkRules(label, endpoint.rules, encoded);
  const sent = names.flatMap((name) => (encoded.get(name) ?? []).map((text) => [name, text] as const));
  const base = { method: endpoint.method, path: endpoint.path, label, missing: missingOf(endpoint) };
  if (endpoint.method === 'GET') return { ...base, query: sent };
  return { ...base, query: [], body: JSON.stringify(bodyOf(endpoint, encoded)) };
}

function missingOf(endpoint: Endpoint): SourceRequest['missing'] {
  return endpoint.missing === 'no rows' ? 'answer' : endpoint.missing;
}

function bodyOf(endpoint: Endpoint, encoded: ReadonlyMap<string, readonly string[]>): Record<string, JsonValue> {
  const body: Record<string, JsonValue> = {};
  for (const [name, parameter] of Object.entries(endpoint.parameters)) {
    const texts = encoded.get(name);
    if (texts === undefined) continue;
    const values = texts.map((text) => bodyValue(parameter, text));
    body[name] = parameter.many ? values : (values[0] ?? null);
  }
  return body;
}

function encodeParameter(label: string, name: string, parameter: Parameter, value: unknown): readonly string[] {
  if (parameter.inert === true) {
    throw usage(
      `no ${name}, which ${parameter.note ?? 'does nothing'}`,
      undefined,
      `remove ${name}, and filter the rows yourself`,
      { of: label },
    );
  }
  const isList = Array.isArray(value) && parameter.kind !== 'stack';
  const values: readonly unknown[] = isList ? value : [value];
  const { most = Number.POSITIVE_INFINITY } = parameter;
  if (isList && !parameter.many) throw wrong(label, `one value for ${name}`, `a list of ${values.length}`);
  if (values.length === 0) throw wrong(label, `at least one value for ${name}`, 'an empty list');
  if (values.length > most) throw wrong(label, `at most ${most} values for ${name}`, String(values.length));
  return values.map((item) => {
    const text = encodeValue(parameter, item);
    if (text === undefined) throw wrong(label, `${meaningOf(parameter)} for ${name}`, shown(item));
    return text;
  });
}

function meaningOf(parameter: Parameter): string {
  if (parameter.kind === 'choice') return parameter.words.join(' or ');
  const { min, max } = parameter;
  const range = min === undefined || max === undefined ? '' : ` from ${min} to ${max}`;
  return `${parameterMeanings[parameter.kind]}${range}`;
}

function unknownParameter(label: string, name: string, names: readonly string[]): UsageError {
  return usage(
    'a parameter',
    JSON.stringify(name),
    names.length === 0 ? `${label} takes no parameters` : choicesFor(name, names),
    { of: label },
  );
}

function missing(label: string, name: string, parameter: Parameter): UsageError {
  return usage(
    `${meaningOf(parameter)} for ${name}`,
    'nothing',
    `${suggest('api', `${label} --parameters`)} explains it`,
    { of: label },
  );
}

function wrong(label: string, expected: string, got: string): UsageError {
  return usage(expected, got, undefined, { of: label, code: 'bad-parameter' });
}

function shown(value: unknown): string {
  const text =
    typeof value === 'string' ? JSON.stringify(value) : inspect(value, { breakLength: Number.POSITIVE_INFINITY });
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
