import { endpointFacts } from '../../../api/facts.ts';
import { type Account, addressOf } from '../chain/accounts.ts';
import { parseAddress, parseHash } from '../chain/address.ts';
import type { MessageKey, TransactionRow } from '../chain/model.ts';
import { type AccountsByAddress, bookText, metadataText } from '../page/addresses.ts';
import { type JsonRecord, type RecordName, textOf, type Verbatim } from '../page/json.ts';
import type { SandboxRequest } from '../server.ts';
import { ApiError, demand } from './api-error.ts';
import type { View } from './view.ts';

/** An endpoint in the vendored facts. */
interface EndpointFacts {
  readonly answer:
    | { readonly kind: 'rows'; readonly rows: string; readonly record: RecordName; readonly maps: readonly string[] }
    | { readonly kind: 'list' | 'map' | 'record'; readonly record: RecordName };
  /** Status for a wrong limit or order. */
  readonly refused: number;
  readonly params: Readonly<Record<string, ParameterFacts>>;
}

interface ParameterFacts {
  readonly kind: string;
  readonly many?: true;
  readonly required?: true;
  readonly default?: string;
}

export type EndpointKey = keyof typeof endpointFacts;

const FACTS: Readonly<Record<EndpointKey, EndpointFacts>> = endpointFacts;

/** Inclusive bounds; without a parameter, nothing is out of bounds. */
export interface Bounds {
  readonly startLt: number;
  readonly endLt: number;
  readonly startUtime: number;
  readonly endUtime: number;
  readonly byTime: boolean;
  readonly byLt: boolean;
}

/** A request as the server reads it, and the accounts of its response. */
export class ParsedRequest {
  readonly view: View;
  /** Decides the order of ties. */
  readonly shuffle: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly #facts: EndpointFacts;
  readonly #request: SandboxRequest;
  readonly #accounts: AccountsByAddress = new Map();
  /** JSON of transactions by hash, shared by the actions of the response. */
  readonly transactionTexts = new Map<string, Verbatim>();
  readonly #values = new Map<string, readonly string[]>();

  /** @throws {ApiError} for a parameter that cannot be read */
  constructor(view: View, request: SandboxRequest, endpoint: EndpointKey, shuffle: number) {
    this.view = view;
    this.shuffle = shuffle;
    this.#request = request;
    this.#facts = FACTS[endpoint];
    this.body = request.method === 'POST' ? jsonBody(request) : {};
    if (request.method === 'POST') return;
    for (const [name, facts] of Object.entries(this.#facts.params)) this.#values.set(name, this.#read(name, facts));
  }

  /** The normalized values of a parameter: all of a list, else the last one. */
  #read(name: string, { kind, many, required }: ParameterFacts): readonly string[] {
    const given = this.#request.query.getAll(name);
    const parse = PARSERS[kind] ?? ((text: string) => text);
    if (many === true) {
      return given.flatMap((text, index) => {
        const parts = kind === 'text' || parse(text) !== undefined ? [text] : text.split(',');
        return parts.flatMap((part) =>
          part === '' ? [] : [parse(part) ?? raise(badValue(`index ${index} of "${name}"`, ''))],
        );
      });
    }
    const last = given.at(-1);
    if (last === undefined) return [];
    if (last === '') return EMPTY_IS_ZERO.has(kind) ? ['0'] : [];
    const value = parse(last);
    if (value !== undefined) return [value];
    // The server reads these two without an error.
    if (kind === 'int32' && required === true) return ['0'];
    if (name === 'hash' && this.#facts.answer.record === 'Message') return [];
    throw badValue(name);
  }

  /** True if a parameter was sent, even with an empty value. */
  readonly isGiven = (name: string): boolean => this.#request.query.has(name);

  readonly list = (name: string): readonly string[] => this.#values.get(name) ?? [];

  /** The last value of a parameter, or its default. */
  readonly text = (name: string): string | undefined => this.list(name).at(-1) ?? this.#facts.params[name]?.default;

  readonly number = (name: string): number | undefined => {
    const text = this.text(name);
    return text === undefined ? undefined : Number(text);
  };

  /** True if a switch is on. */
  readonly isOn = (name: string): boolean => this.text(name) === 'true';

  /** True if at least one of some parameters has a value. */
  readonly has = (...names: readonly string[]): boolean => names.some((name) => this.list(name).length > 0);

  get bounds(): Bounds {
    return {
      startLt: this.number('start_lt') ?? 0,
      endLt: this.number('end_lt') ?? Number.MAX_SAFE_INTEGER,
      startUtime: this.number('start_utime') ?? 0,
      endUtime: this.number('end_utime') ?? 4294967295,
      byTime: this.isGiven('start_utime') || this.isGiven('end_utime'),
      byLt: this.isGiven('start_lt') || this.isGiven('end_lt'),
    };
  }

  /** The requested page; the first 1000 rows of an endpoint without pages. @throws {ApiError} if the limit is above 1000 */
  get page(): { readonly limit: number; readonly offset: number } {
    const limit = this.number('limit') ?? 1000;
    demand(limit <= 1000, `limit is not allowed: ${limit} > 1000`, this.#facts.refused);
    return { limit: Math.max(1, limit), offset: Math.max(0, this.number('offset') ?? 0) };
  }

  /** 1 for ascending, -1 for descending; undefined if neither the request nor the endpoint has an order. */
  get sort(): 1 | -1 | undefined {
    const text = this.text('sort')?.toLowerCase();
    if (text === undefined) return undefined;
    if (text === 'asc' || text === 'a') return 1;
    if (text === 'desc' || text === 'd') return -1;
    throw new ApiError(this.#facts.refused, 'wrong value for sort parameter');
  }

  /** A switch: a header, or a query parameter with underscores instead of hyphens. */
  #flag(header: string): boolean {
    const given = this.#request.headers[header] ?? this.#request.query.getAll(header.replaceAll('-', '_')).at(-1);
    return typeof given === 'string' && TRUE.has(given.toLowerCase());
  }

  /** Adds an account to the address book; returns its raw address, or null if there is none. */
  readonly addAccount = (account: Account | undefined, epoch = 0): string | null => {
    if (account === undefined) return null;
    const address = addressOf(account, epoch, this.view.chain.codec);
    this.#accounts.set(address, account);
    return address;
  };

  addAccountsOf({ message: { source, destination }, epoch }: MessageKey): void {
    for (const account of [source, destination]) this.addAccount(account, epoch);
  }

  /** The record of a transaction, whose accounts are added to the address book. */
  transaction(row: TransactionRow): ReturnType<View['records']['transaction']> {
    this.addAccount(row.transaction.account, row.epoch);
    for (const message of this.view.chain.messagesOf(row)) this.addAccountsOf(message);
    return this.view.records.transaction(row);
  }

  /** The response as JSON. `null` stands for a list that does not exist. */
  responseText(records: readonly JsonRecord[] | null): string {
    const { answer } = this.#facts;
    const list = records === null ? 'null' : textOf(answer.record, records);
    if (answer.kind !== 'rows') return list;
    const { rows, maps } = answer;
    const [noBook, noMetadata] = [this.#flag('x-no-address-book'), this.#flag('x-no-metadata')];
    const book = maps.includes('address_book')
      ? `,"address_book":${bookText(noBook ? new Map() : this.#accounts)}`
      : '';
    const metadata = maps.includes('metadata')
      ? `,"metadata":${metadataText(noMetadata ? new Map() : this.#accounts)}`
      : '';
    return `{"${rows}":${list}${book}${metadata}}`;
  }
}

const TRUE = new Set(['1', 't', 'true', 'on']);
const FALSE = new Set(['0', 'f', 'false']);
/** An empty value of these is 0; of others it is no value. */
const EMPTY_IS_ZERO = new Set(['int32', 'uint64', 'unix-seconds']);

/** Normalizes values, by type; undefined for values that the server cannot read. */
const PARSERS: Readonly<Record<string, (text: string) => string | undefined>> = {
  address: parseAddress,
  'address-or-null': (text) => (text === 'null' ? text : parseAddress(text)),
  hash: (text) => parseHash(text)?.toString('base64'),
  int32: (text) => numberIn(text, /^[+-]?\d+$/, -2147483648, 2147483647),
  // Logical times above 2^53 need not be exact: the sandbox has none.
  uint64: (text) => numberIn(text, /^\d+$/, 0, 2 ** 64),
  'unix-seconds': (text) => numberIn(text, /^\d+(\.\d*)?$/, 0, 2 ** 63),
  bool: (text) => (TRUE.has(text.toLowerCase()) ? 'true' : FALSE.has(text.toLowerCase()) ? 'false' : undefined),
  shard: readShard,
  opcode: readOpcode,
};

function numberIn(text: string, pattern: RegExp, least: number, most: number): string | undefined {
  const value = Math.floor(Number(text));
  return pattern.test(text) && value >= least && value <= most ? String(value) : undefined;
}

/** A shard id as upper-case hex without padding: hex is tried before signed decimal. */
function readShard(text: string): string | undefined {
  const hex = /^(?:0x)?([0-9a-f]{1,16})$/i.exec(text)?.[1];
  if (hex === undefined && !/^-?\d{1,19}$/.test(text)) return undefined;
  const id = hex === undefined ? BigInt.asUintN(64, BigInt(text)) : BigInt(`0x${hex}`);
  return id.toString(16).toUpperCase();
}

/** An opcode as the server writes it: hex is tried before signed decimal. */
export function readOpcode(text: string): string | undefined {
  const hex = /^(?:0x)?([0-9a-f]{1,8})$/i.exec(text)?.[1];
  if (hex === undefined && !/^-?\d{1,10}$/.test(text)) return undefined;
  const value = hex === undefined ? Number(text) >>> 0 : Number.parseInt(hex, 16);
  return `0x${value.toString(16).padStart(8, '0')}`;
}

function jsonBody({ body, headers }: SandboxRequest): Readonly<Record<string, unknown>> {
  demand(headers['content-type']?.startsWith('application/json') === true, 'Unprocessable Entity');
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (error) {
    throw new ApiError(422, error instanceof Error ? error.message : 'unreadable JSON');
  }
  demand(typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed), 'expected a JSON object');
  return Object.fromEntries(Object.entries(parsed));
}

function badValue(what: string, quote = '"'): ApiError {
  return new ApiError(422, `failed to decode: schema: error converting value for ${quote}${what}${quote}`);
}

function raise(error: Error): never {
  throw error;
}
