import type { Header } from '../chain/headers.ts';
import { addressesOf } from '../chain/shards.ts';
import { shardHex } from '../core/format.ts';
import type { Span } from '../core/span.ts';
import type { Decoder } from '../decode/decoder.ts';
import type { BytesColumn, WordsColumn } from '../decode/typed-columns.ts';
import { MessageAudit } from './message-counts.ts';
import { SeenValues } from './seen-values.ts';

/** A masterchain block whose rows and headers disagree. */
export interface BadBlock {
  readonly seqno: number;
  /** `expected 5 transactions in block 0:2000000000000000:123, got 4`. */
  readonly reason: string;
  /** Error code. Default `unbalanced`. */
  readonly code?: string | undefined;
  /** Hashes of account states that it lacks, but rows of other blocks have. */
  readonly states?: readonly string[] | undefined;
}

/**
 * A header with its 64-bit numbers as words, and the number of its rows. Headers from another thread have different hidden classes;
 * this class gives them one.
 */
class Tally {
  readonly header: Header;
  readonly workchain: number;
  readonly seqno: number;
  readonly mcSeqno: number;
  readonly shard: Word64;
  readonly startLt: Word64;
  readonly endLt: Word64;
  readonly accounts: AddressPrefix;
  count = 0;

  constructor(header: Header) {
    this.header = header;
    this.workchain = header.workchain;
    this.seqno = header.seqno;
    this.mcSeqno = header.mcSeqno;
    this.shard = wordsOf(BigInt(header.shard));
    this.startLt = wordsOf(header.startLt);
    this.endLt = wordsOf(header.endLt);
    this.accounts = addressPrefixOf(header);
  }
}

/** Halves of a 64-bit number, each from 0 to 2^32 - 1. */
interface Word64 {
  readonly high: number;
  readonly low: number;
}

/** How the raw addresses of a shard begin: its workchain and whole digits, and those bits of the next digit that `mask` has. */
interface AddressPrefix {
  readonly text: Uint8Array;
  readonly mask: number;
  readonly bits: number;
}

/**
 * Compares the transactions of a decoder with the headers of a span. Reused for each decoder, because V8 recompiles the code of
 * short-lived objects.
 */
export class Reconciliation {
  private readonly rows: RowReader;
  private tallies: readonly Tally[] = [];
  private readonly bySeqno = new Map<number, Tally[]>();
  /** Tally of the last row: rows of a block are neighbours. */
  private last: Tally | undefined;
  private readonly bad = new Map<number, string>();
  private readonly seen: SeenValues;
  private readonly messages: MessageAudit | undefined;
  private readonly accuseRow = (row: number, reason: string): void => this.accuse(this.rows.mcSeqno(row), reason);

  constructor(decoder: Decoder) {
    this.rows = new RowReader(decoder);
    this.seen = new SeenValues(this.rows.hashes);
    this.messages = MessageAudit.of(decoder);
  }

  /**
   * Requires exactly `tx_count` rows for every block, without duplicates, each with the time of the block, a logical time inside it, an
   * account of its shard, and in a block that the masterchain block includes; and the expected messages of every row. Ignores rows of masterchain blocks outside the span, and
   * rows for which `isAlive` is false, because they were dropped and requested again.
   */
  audit(span: Span, headers: readonly Header[], isAlive: (row: number) => boolean): readonly BadBlock[] {
    this.begin(headers);
    const { rows } = this;
    for (let row = 0; row < rows.count; row++) {
      const mcSeqno = rows.mcSeqno(row);
      if (mcSeqno >= span.from && mcSeqno <= span.to && isAlive(row)) this.add(row, mcSeqno);
    }
    return this.finish(span);
  }

  private begin(headers: readonly Header[]): void {
    this.bySeqno.clear();
    this.last = undefined;
    this.bad.clear();
    this.seen.clear(this.rows.count);
    this.messages?.begin();
    this.tallies = headers.map((header) => new Tally(header));
    for (const tally of this.tallies) {
      const group = this.bySeqno.get(tally.seqno);
      if (group === undefined) this.bySeqno.set(tally.seqno, [tally]);
      else group.push(tally);
    }
  }

  private add(row: number, mcSeqno: number): void {
    const other = this.seen.add(row);
    if (other !== undefined) {
      const reason = `expected transaction ${this.rows.hash(row)} once, got it twice`;
      this.accuse(mcSeqno, reason);
      this.accuse(this.rows.mcSeqno(other), reason);
    }
    this.messages?.add(row, this.accuseRow);
    const tally = this.find(row);
    if (tally === undefined || tally.mcSeqno !== mcSeqno) {
      const found = tally === undefined ? 'one of an unknown block' : `one of masterchain block ${tally.mcSeqno}`;
      const hash = this.rows.hash(row);
      this.accuse(mcSeqno, `expected only transactions of masterchain block ${mcSeqno}, got ${found} (${hash})`);
      return;
    }
    tally.count++;
    const { utime } = tally.header;
    if (this.rows.utime(row, utime) !== utime) {
      const found = `${this.rows.utime(row, utime)} (${this.rows.hash(row)})`;
      this.accuse(mcSeqno, `expected time ${utime} in block ${name(tally.header)}, got ${found}`);
    }
    if (!this.rows.isOf(row, tally.accounts)) {
      const found = `${this.rows.account(row)} (${this.rows.hash(row)})`;
      this.accuse(mcSeqno, `expected accounts of the shard of block ${name(tally.header)}, got ${found}`);
    }
    if (!this.rows.isBefore(row, tally.startLt) && !this.rows.isAfter(row, tally.endLt)) return;
    const { startLt, endLt } = tally.header;
    const lt = this.rows.lt(row);
    this.accuse(mcSeqno, `expected logical times ${startLt} to ${endLt} in block ${name(tally.header)}, got ${lt}`);
  }

  private finish(span: Span): readonly BadBlock[] {
    for (const { header, count } of this.tallies) {
      const { mcSeqno, txCount } = header;
      if (mcSeqno < span.from || mcSeqno > span.to || count === txCount) continue;
      this.accuse(mcSeqno, `expected ${txCount} transactions in block ${name(header)}, got ${count}`);
    }
    return [...this.bad].map(([seqno, reason]) => ({ seqno, reason })).sort((a, b) => a.seqno - b.seqno);
  }

  private find(row: number): Tally | undefined {
    const { rows, last } = this;
    const seqno = rows.seqno(row);
    if (last?.seqno === seqno && rows.isIn(row, last)) return last;
    this.last = this.bySeqno.get(seqno)?.find((tally) => rows.isIn(row, tally));
    return this.last;
  }

  private accuse(seqno: number, reason: string): void {
    if (!this.bad.has(seqno)) this.bad.set(seqno, reason);
  }
}

function name(header: Header): string {
  return `${header.workchain}:${shardHex(header.shard)}:${header.seqno}`;
}

function addressPrefixOf({ workchain, shard }: Header): AddressPrefix {
  const { from, to } = addressesOf(shard);
  const length = 65 - (to - from).toString(2).length;
  const digits = from.toString(16).toUpperCase().padStart(16, '0');
  const whole = length >> 2;
  const mask = (0xf0 >> (length & 3)) & 0xf;
  const bits = Number.parseInt(digits.charAt(whole), 16) & mask;
  return { text: Buffer.from(`${workchain}:${digits.slice(0, whole)}`), mask, bits };
}

function wordsOf(value: bigint): Word64 {
  const bits = BigInt.asUintN(64, value);
  return { high: Number(bits >> 32n), low: Number(bits & 0xffffffffn) };
}

/** The columns that identify the block of a transaction. */
class RowReader {
  private readonly decoder: Decoder;
  readonly hashes: BytesColumn;
  private readonly accounts: BytesColumn;
  private readonly lts: WordsColumn;
  private readonly workchains: WordsColumn;
  private readonly shards: WordsColumn;
  private readonly seqnos: WordsColumn;
  private readonly mcSeqnos: WordsColumn;
  private readonly utimes: WordsColumn | undefined;

  constructor(decoder: Decoder) {
    this.decoder = decoder;
    this.hashes = decoder.column('hash') as BytesColumn;
    this.accounts = decoder.column('account') as BytesColumn;
    this.lts = decoder.column('lt') as WordsColumn;
    this.workchains = decoder.column('block_workchain') as WordsColumn;
    this.shards = decoder.column('block_shard') as WordsColumn;
    this.seqnos = decoder.column('block_seqno') as WordsColumn;
    this.mcSeqnos = decoder.column('mc_block_seqno') as WordsColumn;
    const time = decoder.pipeline.tables.find(({ plays }) => plays === 'counted')?.time;
    this.utimes = time === undefined ? undefined : (decoder.column(time) as WordsColumn);
  }

  get count(): number {
    return this.decoder.records;
  }

  hash(row: number): string {
    return textAt(this.hashes, row);
  }

  account(row: number): string {
    return textAt(this.accounts, row);
  }

  /** True if the account of a row is one of a shard. Digits are in upper case. */
  isOf(row: number, { text, mask, bits }: AddressPrefix): boolean {
    const { bytes, offsets } = this.accounts;
    const start = offsets[row] as number;
    for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text[at]) return false;
    const digit = bytes[start + text.length] as number;
    return ((digit < 65 ? digit - 48 : digit - 55) & mask) === bits;
  }

  lt(row: number): bigint {
    return this.lts.unsigned64(row);
  }

  /** Logical times are never negative. */
  isBefore(row: number, { high, low }: Word64): boolean {
    const { words } = this.lts;
    const own = words[2 * row + 1] as number;
    return own < high || (own === high && (words[2 * row] as number) < low);
  }

  isAfter(row: number, { high, low }: Word64): boolean {
    const { words } = this.lts;
    const own = words[2 * row + 1] as number;
    return own > high || (own === high && (words[2 * row] as number) > low);
  }

  seqno(row: number): number {
    return this.seqnos.words[row] as number;
  }

  mcSeqno(row: number): number {
    return this.mcSeqnos.words[row] as number;
  }

  /** Unix time of a row; `otherwise` for a declaration without time. */
  utime(row: number, otherwise: number): number {
    return this.utimes === undefined ? otherwise : (this.utimes.words[row * this.utimes.width] as number);
  }

  isIn(row: number, { workchain, shard }: Tally): boolean {
    return (
      ((this.workchains.words[row] as number) | 0) === workchain &&
      this.shards.words[2 * row] === shard.low &&
      this.shards.words[2 * row + 1] === shard.high
    );
  }
}

function textAt({ bytes, offsets }: BytesColumn, row: number): string {
  return bytes.toString('latin1', offsets[row], offsets[row + 1]);
}
