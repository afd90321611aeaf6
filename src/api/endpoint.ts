import { endpointFacts } from '../../api/facts.ts';
import { type Closer, type Parameter, type ParameterFacts, type ParameterFor, parameterOf } from './parameter.ts';
import type { RecordName } from './records.ts';

/** A constraint between parameters, checked before a request: the server often ignores invalid combinations. */
export type Rule =
  | { readonly kind: 'exactly-one' | 'at-least-one' | 'at-most-one'; readonly of: readonly string[] }
  /** `name` with one of `with` fails on the server, or silently changes the query. */
  | { readonly kind: 'not-with'; readonly name: string; readonly with: readonly string[] }
  /** `name` has no effect, or fails, without one of `of`. */
  | { readonly kind: 'needs'; readonly name: string; readonly of: readonly string[] }
  /** Several values of `name` need exactly one of `with`. */
  | { readonly kind: 'several-need-one'; readonly name: string; readonly with: string };

/** The shape of a response. */
export type AnswerShape =
  /** An object with a list of records, and maps beside it. */
  | {
      readonly kind: 'rows';
      readonly rows: string;
      readonly record: RecordName;
      readonly maps: readonly Decoration[];
    }
  /** One record. */
  | { readonly kind: 'record'; readonly record: RecordName }
  /** An object with a record for each key. */
  | { readonly kind: 'map'; readonly record: RecordName }
  /** A bare list of records. */
  | { readonly kind: 'list'; readonly record: RecordName };

/** Maps beside the rows of a response that add names and token metadata to addresses. */
export const decorations = ['address_book', 'metadata'] as const;
export type Decoration = (typeof decorations)[number];

type Facts = typeof endpointFacts;
/** Method and path of an endpoint in the facts: `GET /blocks`. */
export type EndpointKey = keyof Facts;
/** The groups of the API's description. */
type Group = Facts[EndpointKey]['group'];

/** An endpoint as data: validation, encoding, types and help are derived from it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with a leading slash. */
  readonly path: string;
  readonly group: Group;
  /** One sentence. */
  readonly doc: string;
  /** In the order in which they are sent; for POST, the fields of the body. */
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly rules: readonly Rule[];
  readonly answer: AnswerShape;
  /** Meaning of a 404: `wait` for not indexed yet, `no rows` for an empty response. Default: an error. */
  readonly missing?: 'wait' | 'no rows';
  /** Has side effects: never retried, and not available to pipelines. */
  readonly sends?: true;
  /** The server has no switches that leave the maps empty. */
  readonly fixedMaps?: true;
}

/** The parameter that leaves a map empty. */
function switchFor(map: Decoration): Readonly<Record<string, Parameter>> {
  const name = `x_no_${map}`;
  return { [name]: parameterOf(name, { kind: 'bool' }, `leave ${map} empty, which saves work for the server`) };
}

/** The parameters of an endpoint, including switches for the maps of its response. */
export function parametersOf({ parameters, answer, fixedMaps }: Endpoint): Readonly<Record<string, Parameter>> {
  if (answer.kind !== 'rows' || fixedMaps === true) return parameters;
  return Object.assign({}, parameters, ...answer.maps.map(switchFor));
}

interface EndpointFacts extends Pick<Endpoint, 'group' | 'answer' | 'missing'> {
  /** The columns that bounds of time and of logical time compare. */
  readonly bounds?: { readonly utime: string; readonly lt: string };
  readonly params: Readonly<Record<string, ParameterFacts>>;
}

const facts: Readonly<Record<EndpointKey, EndpointFacts>> = endpointFacts;

type Params<Key extends EndpointKey> = Facts[Key]['params'];

/** What the facts do not say of an endpoint. */
interface Own<Closers> extends Pick<Endpoint, 'doc' | 'sends' | 'fixedMaps'> {
  readonly rules?: readonly Rule[];
  /** Notes on parameters, or how they are checked more closely. */
  readonly parameters?: Closers;
}

type Described<Key extends EndpointKey, Closers> = Omit<Endpoint, 'answer' | 'parameters'> & {
  readonly answer: Facts[Key]['answer'];
  readonly parameters: {
    readonly [Name in keyof Params<Key>]: ParameterFor<
      Params<Key>[Name],
      Name extends keyof Closers ? Closers[Name] : undefined
    >;
  };
};

/** The endpoint of the facts with what they do not say of it. */
export function endpoint<
  const Key extends EndpointKey,
  const Closers extends { readonly [Name in keyof Closers]: Name extends keyof Params<Key> ? Closer : never } = object,
>(key: Key, own: Own<Closers>): Described<Key, Closers>;
export function endpoint(
  key: EndpointKey,
  { parameters: closers, ...own }: Own<Readonly<Record<string, Closer>>>,
): Endpoint {
  const { group, answer, missing, bounds, params } = facts[key];
  const said: Readonly<Record<string, Closer>> = { ...(bounds === undefined ? {} : boundNotes(bounds)), ...closers };
  const parameters = Object.entries(params).map(([name, fact]) => [name, parameterOf(name, fact, said[name])] as const);
  return {
    method: key.startsWith('POST ') ? 'POST' : 'GET',
    path: key.slice(key.indexOf('/')),
    group,
    rules: [],
    answer,
    ...(missing === undefined ? {} : { missing }),
    ...own,
    parameters: Object.fromEntries(parameters),
  };
}

function boundNotes({ utime, lt }: { readonly utime: string; readonly lt: string }) {
  return {
    start_utime: `minimum ${utime}, inclusive`,
    end_utime: `maximum ${utime}, inclusive`,
    start_lt: `minimum ${lt}, inclusive`,
    end_lt: `maximum ${lt}, inclusive`,
  };
}

export const exactlyOne = (...of: readonly string[]): Rule => ({ kind: 'exactly-one', of });
export const atLeastOne = (...of: readonly string[]): Rule => ({ kind: 'at-least-one', of });
export const atMostOne = (...of: readonly string[]): Rule => ({ kind: 'at-most-one', of });
export const notWith = (name: string, others: readonly string[]): Rule => ({ kind: 'not-with', name, with: others });
export const needs = (name: string, ...of: readonly string[]): Rule => ({ kind: 'needs', name, of });
