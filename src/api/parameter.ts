/** One entry of a TVM stack for `runGetMethod`. */
export interface StackEntry {
  /** `num`, `cell`, `slice`; `tuple` and `list` hold further entries. */
  readonly type: string;
  /** `num`: text such as `0x1f` or `-0x1`; `cell` and `slice`: base64 of a bag of cells. */
  readonly value: string | readonly StackEntry[];
}

/** TypeScript type of each kind of parameter. */
export interface ParameterTypes {
  readonly address: string;
  readonly 'address-or-null': string | null;
  readonly hash: string;
  readonly shard: string | bigint;
  readonly opcode: string | number;
  readonly int32: number;
  readonly uint64: bigint | number | string;
  readonly 'unix-seconds': number | bigint;
  readonly bool: boolean;
  readonly choice: string;
  readonly text: string;
  readonly digits: string | number | bigint;
  readonly 'action-type': string;
  readonly boc: string;
  readonly 'boc-or-hex': string;
  readonly stack: readonly StackEntry[];
}

export type ParameterKind = keyof ParameterTypes;

/** Accepted values of each kind, for `tonlake api ENDPOINT --parameters` and messages. */
export const parameterMeanings: Readonly<Record<ParameterKind, string>> = {
  address: 'an address: raw (0:ABC...) or user-friendly (48 characters of base64)',
  'address-or-null': 'an address, raw or user-friendly, or null',
  hash: 'a hash: 64 hex digits or 44 characters of base64',
  shard: 'a shard: up to 16 hex digits of the unsigned id, or a negative decimal',
  opcode: 'an opcode: 0x and up to 8 hex digits, or a negative decimal',
  int32: 'a 32-bit integer',
  uint64: 'an unsigned 64-bit integer',
  'unix-seconds': 'Unix time in whole seconds',
  bool: 'true or false',
  choice: 'one of the listed values',
  text: 'text',
  digits: 'a non-negative integer of any size',
  'action-type': 'letters, digits, _ and .',
  boc: 'a bag of cells in base64',
  'boc-or-hex': 'a bag of cells in base64 or hex',
  stack: 'a JSON array of {"type": ..., "value": ...}',
};

export interface ParameterOptions {
  readonly note?: string;
  /** Lowest and highest value, both allowed. */
  readonly min?: number;
  readonly max?: number;
  /** Maximum number of values. */
  readonly most?: number;
  /** Default value that is sent. */
  readonly sent?: string;
  /** The server ignores it, so it is rejected here; the note continues `expected no NAME, which ...`. */
  readonly inert?: boolean;
}

/** A parameter of an endpoint. */
export interface Parameter<
  K extends ParameterKind = ParameterKind,
  Many extends boolean = boolean,
  Required extends boolean = boolean,
  Word extends string = string,
> extends ParameterOptions {
  readonly kind: K;
  /** Whether it may be given several times. */
  readonly many: Many;
  readonly required: Required;
  /** The words of a `choice`. */
  readonly words: readonly Word[];
}

/** A parameter in the facts about the API. */
export interface ParameterFacts extends Pick<ParameterOptions, 'min' | 'max' | 'most'> {
  readonly kind: ParameterKind;
  readonly many?: true;
  readonly required?: true;
  readonly words?: readonly string[];
  /** What the server takes if it is not sent. */
  readonly default?: string;
}

/**
 * A note, or what is checked more closely than the facts say: the server drops what it cannot read, ignores what it does not use, and
 * refuses longer lists.
 */
export type Closer = string | (Pick<ParameterOptions, 'note' | 'most' | 'inert'> & { readonly kind?: ParameterKind });

/** The type of a parameter by its facts and what is said more closely. */
export type ParameterFor<Fact, Said> = Parameter<
  Said extends { readonly kind: infer Kind extends ParameterKind }
    ? Kind
    : Fact extends { readonly kind: infer Kind extends ParameterKind }
      ? Kind
      : never,
  Fact extends { readonly many: true } ? true : false,
  Fact extends { readonly required: true } ? true : false,
  Fact extends { readonly words: readonly (infer Word extends string)[] } ? Word : never
>;

export function parameterOf(name: string, { default: preset, ...fact }: ParameterFacts, closer?: Closer): Parameter {
  const note = typeof closer === 'string' ? closer : usualNote(name, preset);
  return {
    ...{ words: [], many: false, required: false },
    ...fact,
    ...(note === undefined ? {} : { note }),
    // The default page size of the server depends on its deployment.
    ...(name === 'limit' && preset !== undefined ? { sent: preset } : {}),
    ...(typeof closer === 'string' ? {} : closer),
  };
}

function usualNote(name: string, preset: string | undefined): string | undefined {
  if (name === 'limit') return `rows per page; default ${preset}`;
  if (name === 'offset') return 'rows to skip';
  return name === 'sort' && preset !== undefined ? `default ${preset}` : undefined;
}

/** The parameter's type in one line: `address, repeatable, required`. */
export function describeParameter(parameter: Parameter): string {
  const { kind, words, min, max } = parameter;
  const type = kind === 'choice' ? words.join(' or ') : kind;
  const range = min === undefined || max === undefined ? '' : ` from ${min} to ${max}`;
  const count = parameter.many ? ', repeatable' : '';
  return `${type}${range}${count}${parameter.required ? ', required' : ''}`;
}
