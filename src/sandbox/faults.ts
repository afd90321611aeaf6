import { UsageError } from '../core/errors.ts';
import { LIE_KINDS, type Lie } from './lies/kinds.ts';

/** A record that no decoder can take: its kind says which field is wrong. */
export interface BrokenRecord {
  /** Masterchain block. */
  readonly seqno: number;
  /** Position from 0, among the block's transactions by lt and account, or its headers as they are listed. */
  readonly index: number;
  /** Of a transaction, `lt`: not a number; `now`: a string; `overflow`: fees beyond 64 bits. Of a header, `root_hash`: no hash. */
  readonly kind: (typeof BROKEN_KINDS)[number];
}

const BROKEN_KINDS = ['lt', 'now', 'overflow', 'root_hash'] as const;

/** Records that a list lacks, with status 200. */
export interface Omission {
  /** Path of the list, such as `traces` or `jetton/transfers`. */
  readonly path: string;
  /** Share of its records. */
  readonly rate: number;
  /** Always the same records, however they are asked for; otherwise others in each answer. */
  readonly lasting: boolean;
}

/** What can go wrong. Rates are from 0 to 1 per request; no URL fails more than twice in a row. */
export interface SandboxFaults {
  /** 429 with the gateway's body. */
  readonly http429: number;
  /** Seconds named in `Retry-After` of a 429; 0 sends none. */
  readonly retryAfter: number;
  /** 500 that speaks of a timeout; 422 on `/accountStates`, `/walletStates` and `/dns/records`. */
  readonly http500Timeout: number;
  /** 502 with a page of HTML. */
  readonly http502Html: number;
  /** How often an answer takes `slowMs` longer. */
  readonly slow: number;
  readonly slowMs: number;
  /** The connection ends in the middle of the body. */
  readonly cutBody: number;
  /** The compressed body is damaged; only where the answer is compressed. */
  readonly brokenGzip: number;
  /** 200 with JSON that ends too early, framed as if it were whole. */
  readonly truncatedJson: number;
  /** The connection is closed without an answer. */
  readonly dropConnection: number;
  /** A list of blocks with status 200 that is short or empty. */
  readonly shortBlocks: number;
  /** A list of transactions with status 200 that is short. */
  readonly shortTransactions: number;
  /** `masterchainInfo.last` goes back a little. */
  readonly headLags: number;
  /** Control characters inside comments stand raw instead of escaped. */
  readonly rawControls: number;
  /** Blocks, transactions and messages carry fields that nobody declared. */
  readonly extraField: number;
  /** Compress for clients that accept it. */
  readonly gzip: boolean;
  /** Requests per second, a bucket of one second; 0 is no limit. */
  readonly rps: number;
  /** Masterchain seqnos that are not there at first. */
  readonly holes: readonly number[];
  /** Share of all seqnos that are not there at first. */
  readonly holeRate: number;
  /** A hole closes once it was asked for so many times, or after `holeMs`. */
  readonly holeAsks: number;
  readonly holeMs: number;
  readonly broken: readonly BrokenRecord[];
  /** Contradictions that stay; see `LIES`. */
  readonly lies: readonly Lie[];
  readonly omits: readonly Omission[];
}

export const NO_FAULTS: SandboxFaults = {
  http429: 0,
  retryAfter: 0,
  http500Timeout: 0,
  http502Html: 0,
  slow: 0,
  slowMs: 30,
  cutBody: 0,
  brokenGzip: 0,
  truncatedJson: 0,
  dropConnection: 0,
  shortBlocks: 0,
  shortTransactions: 0,
  headLags: 0,
  rawControls: 0,
  extraField: 0,
  gzip: false,
  rps: 0,
  holes: [],
  holeRate: 0,
  holeAsks: 2,
  holeMs: 2000,
  broken: [],
  lies: [],
  omits: [],
};

/** Every fault that a client can recover from without losing or changing a row. */
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

type FaultName = keyof SandboxFaults;
const NAMES: readonly string[] = Object.keys(NO_FAULTS);

/**
 * Reads switches such as `http429=0.1,holes=1005;1010,gzip`. A name alone takes the value it has among all faults, `all` takes them all.
 * @throws {UsageError} when a name or a value is unknown; the nearest right name is in the hint.
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

/** Reads one switch; `all` is a switch of its own: 1 turns every recoverable fault on, 0 all of them off. */
export function parseFault(name: string, value: string | undefined): Partial<SandboxFaults> {
  if (name === 'all') return value === '0' ? NO_FAULTS : ALL_FAULTS;
  if (!isFaultName(name)) {
    throw new UsageError(`usage faults: no fault is named ${name}`, {
      code: 'unknown-fault',
      hint: `did you mean ${nearest(name)}?`,
    });
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

function isFaultName(name: string): name is FaultName {
  return NAMES.includes(name);
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

function nearest(name: string): string {
  const scored = [...NAMES, 'all'].map((known) => ({
    known,
    distance: editDistance(name.toLowerCase(), known.toLowerCase()),
  }));
  return scored.reduce((best, one) => (one.distance < best.distance ? one : best)).known;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
