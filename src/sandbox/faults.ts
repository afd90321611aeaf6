import { choicesFor } from '../core/did-you-mean.ts';
import { UsageError } from '../core/errors.ts';
import { LIE_KINDS, type Lie } from './lies/kinds.ts';

/** A record with an invalid field. */
export interface BrokenRecord {
  /** Masterchain block. */
  readonly seqno: number;
  /** Position from 0, in the block's transactions by lt and account, or in its headers as listed. */
  readonly index: number;
  /** In a transaction: `lt` is not a number, `now` is a string, `overflow`: fees exceed 64 bits. In a header: `root_hash` is not a hash. */
  readonly kind: (typeof BROKEN_KINDS)[number];
}

const BROKEN_KINDS = ['lt', 'now', 'overflow', 'root_hash'] as const;

/** Records missing from a list, with status 200. */
export interface Omission {
  /** Path of the list, such as `traces` or `jetton/transfers`. */
  readonly path: string;
  /** Share of missing records, from 0 to 1. */
  readonly rate: number;
  /** Whether the same records are missing from every response; otherwise they differ. */
  readonly lasting: boolean;
}

/** Faults that are a number or a switch, all off. Rates are from 0 to 1 per request; no URL fails more than twice in a row. */
const OFF = {
  /** 429 with the gateway's body. */
  http429: 0,
  /** Seconds in the `Retry-After` of a 429; 0 sends none. */
  retryAfter: 0,
  /** 500 with a timeout message; 422 on `/accountStates`, `/walletStates` and `/dns/records`. */
  http500Timeout: 0,
  /** 502 with an HTML page. */
  http502Html: 0,
  /** Share of responses that take `slowMs` longer. */
  slow: 0,
  slowMs: 30,
  /** The connection ends in the middle of the body. */
  cutBody: 0,
  /** The compressed body is damaged; only compressed responses. */
  brokenGzip: 0,
  /** 200 with JSON that ends too early, although the length of the body is correct. */
  truncatedJson: 0,
  /** The connection is closed without a response. */
  dropConnection: 0,
  /** A list of blocks with status 200 that is short or empty. */
  shortBlocks: 0,
  /** A list of transactions with status 200 that is short. */
  shortTransactions: 0,
  /** `masterchainInfo.last` is up to three blocks behind the head. */
  headLags: 0,
  /** Control characters in comments are not escaped. */
  rawControls: 0,
  /** Blocks, transactions and messages have undocumented fields. */
  extraField: 0,
  /** Compress for clients that accept it. */
  gzip: false,
  /** Requests per second, with a burst of one second; 0 is no limit. */
  rps: 0,
  /** Share of all seqnos that are missing at first. */
  holeRate: 0,
  /** A hole closes after this many requests for it, or after `holeMs`. */
  holeAsks: 2,
  holeMs: 2000,
  /** Share of masterchain blocks that come late, with everything in them, while later ones are there. */
  lateBlocks: 0,
  /** Share of masterchain blocks whose headers are there, and everything else comes late. */
  lateRows: 0,
  /** Share of masterchain blocks of which one shard block's transactions come late, although its header is there. */
  lateShards: 0,
  /** A list of more rows is a timeout, in every attempt; 0 for no limit. */
  heavyRows: 0,
  /** How long after its block something late comes; only if the head grows. */
  lateMs: 3000,
};

/** What can go wrong. */
export interface SandboxFaults extends Readonly<typeof OFF> {
  /** Masterchain seqnos that are missing at first. */
  readonly holes: readonly number[];
  readonly broken: readonly BrokenRecord[];
  /** Lasting contradictions; see `LIES`. */
  readonly lies: readonly Lie[];
  readonly omits: readonly Omission[];
}

export const NO_FAULTS: SandboxFaults = { ...OFF, holes: [], broken: [], lies: [], omits: [] };

/** All faults that a client can recover from without losing or changing a row. */
export const ALL_FAULTS: SandboxFaults = {
  ...NO_FAULTS,
  http429: 0.03,
  http500Timeout: 0.03,
  http502Html: 0.02,
  slow: 0.02,
  cutBody: 0.02,
  brokenGzip: 0.02,
  truncatedJson: 0.02,
  dropConnection: 0.02,
  shortBlocks: 0.03,
  headLags: 0.2,
  rawControls: 1,
  gzip: true,
  holeRate: 0.01,
};

const NAMES: readonly string[] = ['all', ...Object.keys(NO_FAULTS)];

/**
 * Parses a list such as `http429=0.1,holes=1005;1010,gzip`. A name without a value has the value of `ALL_FAULTS`; `all` is all of them.
 * @throws {UsageError} when a name or a value is unknown
 */
export function parseFaults(spec: string): Partial<SandboxFaults> {
  let faults: Partial<SandboxFaults> = {};
  for (const part of spec.split(',').map((text) => text.trim())) {
    if (part === '') continue;
    const [name = '', value] = part.split(/=(.*)/s);
    faults = { ...faults, ...parseFault(name, value) };
  }
  return faults;
}

/** Parses one fault. `all` enables every recoverable fault, `all=0` disables all faults. */
export function parseFault(name: string, value: string | undefined): Partial<SandboxFaults> {
  if (name === 'all') return value === '0' ? NO_FAULTS : ALL_FAULTS;
  if (!isFaultName(name)) {
    const hint = choicesFor(name, NAMES);
    throw new UsageError(`usage faults: unknown fault ${name}`, { code: 'unknown-fault', hint });
  }
  switch (name) {
    case 'gzip':
      return { gzip: value === undefined || value === '1' || value === 'true' };
    case 'holes':
      return { holes: listOf(value).map((text) => numberOf(name, text)) };
    case 'broken':
      return { broken: listOf(value).map(brokenOf) };
    case 'lies':
      return { lies: listOf(value).map(lieOf) };
    case 'omits':
      return { omits: listOf(value).map(omissionOf) };
    default:
      return { [name]: value === undefined ? ALL_FAULTS[name] || 1 : numberOf(name, value) };
  }
}

function isFaultName(name: string): name is keyof SandboxFaults {
  return Object.hasOwn(NO_FAULTS, name);
}

function listOf(value: string | undefined): readonly string[] {
  return (value ?? '').split(';').filter((text) => text !== '');
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new UsageError(`usage faults: expected a number for ${name}, got ${text}`, { code: 'bad-fault' });
}

/** `1005:0:lt` */
function brokenOf(text: string): BrokenRecord {
  const [seqno = '', index = '0', kind = 'lt'] = text.split(':');
  return {
    seqno: numberOf('broken', seqno),
    index: numberOf('broken', index),
    kind: oneOf('broken', BROKEN_KINDS, kind),
  };
}

/** `1005:shard-header-missing` */
function lieOf(text: string): Lie {
  const [seqno = '', kind = 'mc-count-up'] = text.split(':');
  return { seqno: numberOf('lies', seqno), kind: oneOf('lies', LIE_KINDS, kind) };
}

/** `traces:0.01`, or `jetton/transfers:0.01:lasting` */
function omissionOf(text: string): Omission {
  const [path = '', rate = '0.01', lasting = ''] = text.split(':');
  return { path, rate: numberOf('omits', rate), lasting: lasting === 'lasting' || lasting === '1' };
}

function oneOf<T extends string>(name: string, kinds: readonly T[], given: string): T {
  const found = kinds.find((kind) => kind === given);
  if (found !== undefined) return found;
  throw new UsageError(`usage faults: expected one of ${kinds.join(', ')} for ${name}, got ${given}`, {
    code: 'bad-fault',
  });
}
