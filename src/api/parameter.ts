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

const bare = { words: [], many: false, required: false } as const;

/** At most one value. */
export function one<K extends ParameterKind>(
  kind: K,
  note?: string,
  options: ParameterOptions = {},
): Parameter<K, false, false, never> {
  return { kind, ...bare, ...noted(note), ...options };
}

/** One value, always. */
export function need<K extends ParameterKind>(kind: K, note?: string): Parameter<K, false, true, never> {
  return { kind, ...bare, required: true, ...noted(note) };
}

/** Any number of values. */
export function many<K extends ParameterKind>(
  kind: K,
  note?: string,
  options: ParameterOptions = {},
): Parameter<K, true, false, never> {
  return { kind, ...bare, many: true, ...noted(note), ...options };
}

/** One value or more. */
export function needMany<K extends ParameterKind>(
  kind: K,
  note?: string,
  options: ParameterOptions = {},
): Parameter<K, true, true, never> {
  return { kind, ...bare, many: true, required: true, ...noted(note), ...options };
}

/** One of some words. */
export function choice<const Word extends string>(
  words: readonly Word[],
  note?: string,
): Parameter<'choice', false, false, Word> {
  return { kind: 'choice', many: false, required: false, words, ...noted(note) };
}

function noted(note: string | undefined): ParameterOptions {
  return note === undefined ? {} : { note };
}

/** A page size is always sent: the default of the server depends on its deployment. */
export const page = {
  limit: one('int32', 'rows per page; default 100', { min: 1, max: 1000, sent: '100' }),
  offset: one('int32', 'rows to skip', { min: 0, max: 2147483647 }),
};

export const sort = choice(['asc', 'desc'], 'default desc');

/** Bounds of time and logical time, both inclusive. */
export function bounds(utime: string, lt: string) {
  const seconds = { min: 0, max: 4294967295 };
  return {
    start_utime: one('unix-seconds', `minimum ${utime}, inclusive`, seconds),
    end_utime: one('unix-seconds', `maximum ${utime}, inclusive`, seconds),
    start_lt: one('uint64', `minimum ${lt}, inclusive`),
    end_lt: one('uint64', `maximum ${lt}, inclusive`),
  };
}

/** The parameter's type in one line: `address, repeatable, required`. */
export function describeParameter(parameter: Parameter): string {
  const { kind, words, min, max } = parameter;
  const type = kind === 'choice' ? words.join(' or ') : kind;
  const range = min === undefined || max === undefined ? '' : ` from ${min} to ${max}`;
  const count = parameter.many ? ', repeatable' : '';
  return `${type}${range}${count}${parameter.required ? ', required' : ''}`;
}
