import { one, type Parameter } from './parameter.ts';
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
  | { readonly kind: 'map'; readonly record: RecordName; readonly key: string }
  /** A bare list of records. */
  | { readonly kind: 'list'; readonly record: RecordName };

/** Maps beside the rows of a response that add names and token metadata to addresses. */
export const decorations = ['address_book', 'metadata'] as const;
export type Decoration = (typeof decorations)[number];

/** The groups of the API's description. */
export type Group =
  | 'Accounts'
  | 'Actions and traces'
  | 'Blockchain Data'
  | 'Dns'
  | 'Jettons'
  | 'Legacy (v2)'
  | 'Multisig'
  | 'NFTs'
  | 'Stats'
  | 'Utils'
  | 'Vesting';

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

const switches: Readonly<Record<Decoration, Readonly<Record<string, Parameter>>>> = {
  address_book: { x_no_address_book: one('bool', 'leave address_book empty, which saves work for the server') },
  metadata: { x_no_metadata: one('bool', 'leave metadata empty, which saves work for the server') },
};

/** The parameters of an endpoint, including switches for the maps of its response. */
export function parametersOf({ parameters, answer, fixedMaps }: Endpoint): Readonly<Record<string, Parameter>> {
  if (answer.kind !== 'rows' || fixedMaps === true) return parameters;
  return Object.assign({}, parameters, ...answer.maps.map((map) => switches[map]));
}

type Parts = Omit<Endpoint, 'method' | 'group' | 'path' | 'rules'> & { readonly rules?: readonly Rule[] };

type Known<Method, Given> = {
  readonly method: Method;
  readonly group: Group;
  readonly path: string;
  readonly rules: readonly Rule[];
} & Given;

export function get<const Given extends Parts>(group: Group, path: string, parts: Given): Known<'GET', Given> {
  return { method: 'GET', group, path, rules: [], ...parts };
}

export function post<const Given extends Parts>(group: Group, path: string, parts: Given): Known<'POST', Given> {
  return { method: 'POST', group, path, rules: [], ...parts };
}

/** A list of records with address book and metadata. */
export function rows<const Rows extends string, const Record extends RecordName>(name: Rows, record: Record) {
  return { kind: 'rows', rows: name, record, maps: decorations } as const;
}

/** A list of records with an address book only. */
export function rowsWithNames<const Rows extends string, const Record extends RecordName>(name: Rows, record: Record) {
  return { kind: 'rows', rows: name, record, maps: ['address_book'] } as const;
}

/** A list of records without maps. */
export function bareRows<const Rows extends string, const Record extends RecordName>(name: Rows, record: Record) {
  return { kind: 'rows', rows: name, record, maps: [] } as const;
}

export function record<const Record extends RecordName>(name: Record) {
  return { kind: 'record', record: name } as const;
}

export const exactlyOne = (...of: readonly string[]): Rule => ({ kind: 'exactly-one', of });
export const atLeastOne = (...of: readonly string[]): Rule => ({ kind: 'at-least-one', of });
export const atMostOne = (...of: readonly string[]): Rule => ({ kind: 'at-most-one', of });
export const notWith = (name: string, others: readonly string[]): Rule => ({ kind: 'not-with', name, with: others });
export const needs = (name: string, ...of: readonly string[]): Rule => ({ kind: 'needs', name, of });
