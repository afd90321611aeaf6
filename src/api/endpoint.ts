import { one, type Parameter } from './parameter.ts';
import type { RecordName } from './records.ts';

/** What parameters must hold together; checked before a request, because the server often ignores what does not fit. */
export type Rule =
  | { readonly kind: 'exactly-one' | 'at-least-one' | 'at-most-one'; readonly of: readonly string[] }
  /** `name` together with one of `with` is an error of the server, or silently changes what is asked. */
  | { readonly kind: 'not-with'; readonly name: string; readonly with: readonly string[] }
  /** `name` does nothing, or fails, without one of `of`. */
  | { readonly kind: 'needs'; readonly name: string; readonly of: readonly string[] }
  /** Several values of `name` need exactly one of `with`. */
  | { readonly kind: 'several-need-one'; readonly name: string; readonly with: string };

/** The shape of an answer. */
export type AnswerShape =
  /** An object with a list of records, and maps that decorate it. */
  | {
      readonly kind: 'rows';
      readonly rows: string;
      readonly record: RecordName;
      /** Maps from addresses to names and token facts, beside the rows. */
      readonly maps: readonly Decoration[];
    }
  /** One record. */
  | { readonly kind: 'record'; readonly record: RecordName }
  /** An object with a record for each key. */
  | { readonly kind: 'map'; readonly record: RecordName; readonly key: string }
  /** A bare list of records. */
  | { readonly kind: 'list'; readonly record: RecordName };

export type Decoration = 'address_book' | 'metadata';

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

/** One endpoint, as data: checking, encoding, types and help follow from it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with a leading slash. */
  readonly path: string;
  readonly group: Group;
  /** One sentence. */
  readonly doc: string;
  /** In the order they are sent; for POST the fields of the body. */
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly rules: readonly Rule[];
  readonly answer: AnswerShape;
  /** What a 404 of the API means: `wait`, not indexed yet; `no rows`, an answer without rows. Otherwise it is an error. */
  readonly missing?: 'wait' | 'no rows';
  /** Changes something outside the source, so it is sent once and never by a pipeline. */
  readonly sends?: true;
  /** Whether the server leaves the maps of the answer away when it is asked to; by default it does. */
  readonly fixedMaps?: true;
}

const switches: Readonly<Record<Decoration, Readonly<Record<string, Parameter>>>> = {
  address_book: { x_no_address_book: one('bool', 'leave address_book empty and save the server work') },
  metadata: { x_no_metadata: one('bool', 'leave metadata empty and save the server work') },
};

/** The parameters of an endpoint and the switches for the maps of its answer. */
export function parametersOf({ parameters, answer, fixedMaps }: Endpoint): Readonly<Record<string, Parameter>> {
  if (answer.kind !== 'rows' || fixedMaps === true) return parameters;
  return Object.assign({}, parameters, ...answer.maps.map((map) => switches[map]));
}

type Parts = Omit<Endpoint, 'method' | 'path' | 'rules'> & { readonly rules?: readonly Rule[] };

/** An endpoint whose names and types are known. */
type Known<Method, Given> = {
  readonly method: Method;
  readonly path: string;
  readonly rules: readonly Rule[];
} & Given;

export function get<const Given extends Parts>(path: string, parts: Given): Known<'GET', Given> {
  return { method: 'GET', path, rules: [], ...parts };
}

export function post<const Given extends Parts>(path: string, parts: Given): Known<'POST', Given> {
  return { method: 'POST', path, rules: [], ...parts };
}

/** A list of records with address book and metadata. */
export function rows<const Rows extends string, const Record extends RecordName>(name: Rows, record: Record) {
  return { kind: 'rows', rows: name, record, maps: ['address_book', 'metadata'] } as const;
}

/** A list of records with an address book only. */
export function rowsWithNames<const Rows extends string, const Record extends RecordName>(name: Rows, record: Record) {
  return { kind: 'rows', rows: name, record, maps: ['address_book'] } as const;
}

/** A list of records and nothing beside it. */
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
