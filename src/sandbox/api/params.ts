import { parseAddress, parseHash } from '../chain/address.ts';

/** An error that the server itself sends: `{"error": text}`. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** @throws {ApiError} unless a request is as the server demands */
export function demand(isRight: boolean, message: string, status = 422): asserts isRight {
  if (!isRight) throw new ApiError(status, message);
}

/** Inclusive bounds; without a parameter, nothing is out of bounds. */
export interface Bounds {
  readonly startLt: number;
  readonly endLt: number;
  readonly startUtime: number;
  readonly endUtime: number;
  readonly byTime: boolean;
  readonly byLt: boolean;
}

export function within({ startLt, endLt, startUtime, endUtime }: Bounds, lt: number, utime: number): boolean {
  return lt >= startLt && lt <= endLt && utime >= startUtime && utime <= endUtime;
}

/** Whether a filter has an address; an empty filter has all. */
export function contains(filter: ReadonlySet<string>, address: string | undefined): boolean {
  return filter.size === 0 || filter.has(address ?? '');
}

const TRUE = new Set(['1', 't', 'true', 'on']);
const FALSE = new Set(['0', 'f', 'false']);

/** The parameters of a request, as the server reads them: of repeated ones, the last; an empty number is 0. */
export class Params {
  readonly #query: URLSearchParams;
  readonly #headers: Readonly<Record<string, string | string[] | undefined>>;

  constructor(query: URLSearchParams, headers: Readonly<Record<string, string | string[] | undefined>>) {
    this.#query = query;
    this.#headers = headers;
  }

  #last(name: string): string | undefined {
    return this.#query.getAll(name).at(-1);
  }

  has(name: string): boolean {
    return this.#query.has(name);
  }

  /** A switch: a header, or a query parameter with underscores instead of hyphens. */
  flag(header: string): boolean {
    const given = this.#headers[header] ?? this.#last(header.replaceAll('-', '_'));
    return typeof given === 'string' && TRUE.has(given.toLowerCase());
  }

  #number(name: string, pattern: RegExp, least: number, most: number): number | undefined {
    const text = this.#last(name);
    if (text === undefined) return undefined;
    if (text === '') return 0;
    const value = Number(text);
    if (!pattern.test(text) || value < least || value > most) throw badValue(name);
    return value;
  }

  int32(name: string): number | undefined {
    return this.#number(name, /^[+-]?\d+$/, -2147483648, 2147483647);
  }

  /** A logical time. Values above 2^53 need not be exact: the sandbox has none. */
  lt(name: string): number | undefined {
    return this.#number(name, /^\d+$/, 0, 2 ** 64);
  }

  /** Unix seconds, rounded down. */
  utime(name: string): number | undefined {
    const value = this.#number(name, /^\d+(\.\d*)?$/, 0, 2 ** 63);
    return value === undefined ? undefined : Math.floor(value);
  }

  bool(name: string): boolean | undefined {
    const text = this.#last(name)?.toLowerCase();
    if (text === undefined || text === '') return undefined;
    if (TRUE.has(text)) return true;
    if (FALSE.has(text)) return false;
    throw badValue(name);
  }

  text(name: string): string | undefined {
    const text = this.#last(name);
    return text === '' ? undefined : text;
  }

  /** A shard id as upper-case hex without padding: hex is tried before signed decimal. */
  shard(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^(0x)?[0-9a-f]{1,16}$/i.test(text)) return upperHex(BigInt(`0x${text.replace(/^0x/i, '')}`));
    if (/^-?\d{1,19}$/.test(text)) return upperHex(BigInt.asUintN(64, BigInt(text)));
    throw badValue(name);
  }

  /** An opcode as the server writes it: hex is tried before signed decimal. */
  opcode(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const [, hex] = /^(?:0x)?([0-9a-f]{1,8})$/i.exec(text) ?? [];
    if (hex === undefined && !/^-\d{1,10}$/.test(text)) throw badValue(name);
    const value = hex === undefined ? Number(text) >>> 0 : Number.parseInt(hex, 16);
    return `0x${value.toString(16).padStart(8, '0')}`;
  }

  /** The bounds of lt and time. */
  bounds(): Bounds {
    return {
      startLt: this.lt('start_lt') ?? 0,
      endLt: this.lt('end_lt') ?? Number.MAX_SAFE_INTEGER,
      startUtime: this.utime('start_utime') ?? 0,
      endUtime: this.utime('end_utime') ?? 4294967295,
      byTime: this.has('start_utime') || this.has('end_utime'),
      byLt: this.has('start_lt') || this.has('end_lt'),
    };
  }

  hash(name: string): Buffer | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : (parseHash(text) ?? raise(badValue(name)));
  }

  /** A hash, or undefined if it is invalid. */
  lenientHash(name: string): Buffer | undefined {
    return parseHash(this.text(name) ?? '');
  }

  /** One address, or the word null. */
  addressOrNull(name: string): string | null | undefined {
    const text = this.text(name);
    if (text === undefined || text === 'null') return text === undefined ? undefined : null;
    return parseAddress(text) ?? raise(badValue(name));
  }

  /** All values of a list of strings; commas do not separate them. */
  texts(name: string): readonly string[] {
    return this.#query.getAll(name).filter((text) => text !== '');
  }

  /** The last address given, if any, as a list. */
  firstAddress(name: string): readonly string[] {
    const text = this.text(name);
    return text === undefined ? [] : [parseAddress(text) ?? raise(badValue(name))];
  }

  addresses(name: string): readonly string[] {
    return this.#list(name, parseAddress);
  }

  addressSet(name: string): ReadonlySet<string> {
    return new Set(this.addresses(name));
  }

  hashes(name: string): readonly Buffer[] {
    return this.#list(name, parseHash);
  }

  #list<T>(name: string, parse: (text: string) => T | undefined): readonly T[] {
    const found: T[] = [];
    this.#query.getAll(name).forEach((text, index) => {
      for (const part of parse(text) === undefined ? text.split(',') : [text]) {
        if (part !== '') found.push(parse(part) ?? raise(badValue(`index ${index} of "${name}"`, '')));
      }
    });
    return found;
  }

  /** A required seqno; 0 if it is missing or invalid. */
  requiredSeqno(name: string): number {
    const text = this.#last(name) ?? '';
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
    return value >= -2147483648 && value <= 2147483647 ? value : 0;
  }

  /** Limit, at least 1, and offset, at least 0. @throws {ApiError} with this status if the limit is above 1000 */
  page(status = 500): { readonly limit: number; readonly offset: number } {
    const limit = this.int32('limit') ?? 100;
    const offset = this.int32('offset') ?? 0;
    demand(limit <= 1000, `limit is not allowed: ${limit} > 1000`, status);
    return { limit: Math.max(1, limit), offset: Math.max(0, offset) };
  }

  /** 1 for ascending, -1 for descending. */
  sort(): 1 | -1 | undefined {
    const text = this.#last('sort')?.toLowerCase();
    if (text === undefined || text === '') return undefined;
    if (text === 'asc' || text === 'a') return 1;
    if (text === 'desc' || text === 'd') return -1;
    throw new ApiError(500, 'wrong value for sort parameter');
  }
}

function upperHex(value: bigint): string {
  return value.toString(16).toUpperCase();
}

function badValue(what: string, quote = '"'): ApiError {
  return new ApiError(422, `failed to decode: schema: error converting value for ${quote}${what}${quote}`);
}

function raise(error: Error): never {
  throw error;
}
