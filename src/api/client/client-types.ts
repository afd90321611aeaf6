import type { EndpointName, Endpoints } from '../endpoints.ts';
import type { Parameter, ParameterTypes } from '../parameter.ts';
import type { RecordName, RecordOf } from '../records.ts';

/** Type of one value of a parameter. */
type ValueOf<P> =
  P extends Parameter<infer Kind, boolean, boolean, infer Word>
    ? Kind extends 'choice'
      ? Word
      : ParameterTypes[Kind]
    : never;

type ArgumentOf<P> = P extends { readonly many: true } ? ValueOf<P> | readonly ValueOf<P>[] : ValueOf<P>;

type Parameters<Name extends EndpointName> = Endpoints[Name]['parameters'];
type Shape<Name extends EndpointName> = Endpoints[Name]['answer'];

type RequiredNames<P> = {
  [Name in keyof P]: P[Name] extends { readonly required: true } ? Name : never;
}[keyof P];

/** The maps beside the rows of a response. */
type MapsOf<S> = S extends { readonly maps: readonly (infer Map)[] } ? Map & string : never;

/** The parameters of an endpoint's function: `ParametersOf<'blocks'>`. */
export type ParametersOf<Name extends EndpointName> = {
  readonly [P in RequiredNames<Parameters<Name>>]: ArgumentOf<Parameters<Name>[P]>;
} & {
  readonly [P in Exclude<keyof Parameters<Name>, RequiredNames<Parameters<Name>>>]?:
    | ArgumentOf<Parameters<Name>[P]>
    | undefined;
} & {
  /** Leaves the map of that name empty, which saves work for the server. */
  readonly [M in MapsOf<Shape<Name>> as `x_no_${M}`]?: boolean | undefined;
};

type MapRecords = { readonly address_book: 'AddressBookRow'; readonly metadata: 'AddressMetadata' };

type AnswerFor<S> = S extends { readonly kind: 'rows'; readonly rows: infer Rows; readonly record: infer Name }
  ? { readonly [R in Rows & string]: readonly RecordOf<Name & RecordName>[] } & {
      readonly [M in MapsOf<S> & keyof MapRecords]: Readonly<Record<string, RecordOf<MapRecords[M]>>>;
    }
  : S extends { readonly kind: 'list'; readonly record: infer Name }
    ? readonly RecordOf<Name & RecordName>[]
    : S extends { readonly kind: 'map'; readonly record: infer Name }
      ? Readonly<Record<string, RecordOf<Name & RecordName>>>
      : S extends { readonly record: infer Name }
        ? RecordOf<Name & RecordName>
        : never;

/** The result of an endpoint's function: `AnswerOf<'blocks'>`. */
export type AnswerOf<Name extends EndpointName> = AnswerFor<Shape<Name>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

type ArgumentsOf<Name extends EndpointName> = [RequiredNames<Parameters<Name>>] extends [never]
  ? [parameters?: ParametersOf<Name>, options?: CallOptions]
  : [parameters: ParametersOf<Name>, options?: CallOptions];

/** One function for each endpoint. */
export type Client = {
  readonly [Name in EndpointName]: (...call: ArgumentsOf<Name>) => Promise<AnswerOf<Name>>;
};
