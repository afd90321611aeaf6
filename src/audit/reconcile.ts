import type { BytesColumn, WordsColumn } from '../flatten/columns.ts';
import type { Decoder } from '../flatten/decoder.ts';
import type { Span } from '../span.ts';
import type { Header } from './header.ts';

/** A masterchain block whose rows and headers disagree. */
export interface BadBlock {
  readonly seqno: number;
  /** `expected 5 transactions in block 0:2000000000000000:123, got 4`. */
  readonly reason: string;
}

/** What the audit needs of the decoded rows; `isAlive` tells rows that were dropped because they were asked for again. */
export interface DecodedRows {
  readonly decoder: Decoder;
  readonly isAlive: (row: number) => boolean;
}

/**
 * Compares decoded transactions with the headers of a span: for every block exactly `tx_count` rows, each with a logical time
 * inside the block, none twice, and none of a block that the masterchain block does not include. Rows of masterchain blocks
 * outside the span are ignored.
 */
export function reconcileSpan(
  { decoder, isAlive }: DecodedRows,
  span: Span,
  headers: readonly Header[],
): readonly BadBlock[] {
  const audit = new Reconciliation(new RowReader(decoder), headers);
  for (let row = 0; row < decoder.records; row++) {
    const mcSeqno = audit.rows.mcSeqno(row);
    if (mcSeqno >= span.from && mcSeqno <= span.to && isAlive(row)) audit.add(row, mcSeqno);
  }
  return audit.finish(span);
}

/** A header, with its shard as the words of the column, and the rows that were found for it. */
interface Tally {
  readonly header: Header;
  readonly shardLow: number;
  readonly shardHigh: number;
  count: number;
}

/** A class, not closures: those would be compiled again for each span. */
class Reconciliation {
  readonly rows: RowReader;
  private readonly tallies: readonly Tally[];
  private readonly bySeqno = new Map<number, Tally[]>();
  private readonly bad = new Map<number, string>();
  private readonly seen = new Map<string, number>();

  constructor(rows: RowReader, headers: readonly Header[]) {
    this.rows = rows;
    this.tallies = headers.map((header) => {
      const shard = BigInt.asUintN(64, BigInt(header.shard));
      return { header, shardLow: Number(shard & 0xffffffffn), shardHigh: Number(shard >> 32n), count: 0 };
    });
    for (const tally of this.tallies) {
      const group = this.bySeqno.get(tally.header.seqno);
      if (group === undefined) this.bySeqno.set(tally.header.seqno, [tally]);
      else group.push(tally);
    }
  }

  add(row: number, mcSeqno: number): void {
    const hash = this.rows.hash(row);
    const other = this.seen.get(hash);
    if (other !== undefined) {
      for (const seqno of [mcSeqno, other]) this.accuse(seqno, `expected transaction ${hash} once, got it twice`);
    }
    this.seen.set(hash, mcSeqno);
    const tally = this.find(row);
    if (tally === undefined || tally.header.mcSeqno !== mcSeqno) {
      const found =
        tally === undefined ? 'one of an unknown block' : `one of masterchain block ${tally.header.mcSeqno}`;
      this.accuse(mcSeqno, `expected only transactions of masterchain block ${mcSeqno}, got ${found} (${hash})`);
      return;
    }
    tally.count++;
    const { startLt, endLt } = tally.header;
    const lt = this.rows.lt(row);
    if (lt >= startLt && lt <= endLt) return;
    this.accuse(mcSeqno, `expected logical times ${startLt} to ${endLt} in block ${name(tally.header)}, got ${lt}`);
  }

  finish(span: Span): readonly BadBlock[] {
    for (const { header, count } of this.tallies) {
      const { mcSeqno, txCount } = header;
      if (mcSeqno < span.from || mcSeqno > span.to || count === txCount) continue;
      this.accuse(mcSeqno, `expected ${txCount} transactions in block ${name(header)}, got ${count}`);
    }
    return [...this.bad].map(([seqno, reason]) => ({ seqno, reason })).sort((a, b) => a.seqno - b.seqno);
  }

  private find(row: number): Tally | undefined {
    for (const tally of this.bySeqno.get(this.rows.seqno(row)) ?? []) if (this.rows.isIn(row, tally)) return tally;
    return undefined;
  }

  private accuse(seqno: number, reason: string): void {
    if (!this.bad.has(seqno)) this.bad.set(seqno, reason);
  }
}

function name(header: Header): string {
  return `${header.workchain}:${BigInt.asUintN(64, BigInt(header.shard)).toString(16).toUpperCase()}:${header.seqno}`;
}

/** The columns that tell where a transaction belongs. */
class RowReader {
  private readonly hashes: BytesColumn;
  private readonly lts: WordsColumn;
  private readonly workchains: WordsColumn;
  private readonly shards: WordsColumn;
  private readonly seqnos: WordsColumn;
  private readonly mcSeqnos: WordsColumn;

  constructor(decoder: Decoder) {
    this.hashes = decoder.column('hash') as BytesColumn;
    this.lts = decoder.column('lt') as WordsColumn;
    this.workchains = decoder.column('block_workchain') as WordsColumn;
    this.shards = decoder.column('block_shard') as WordsColumn;
    this.seqnos = decoder.column('block_seqno') as WordsColumn;
    this.mcSeqnos = decoder.column('mc_block_seqno') as WordsColumn;
  }

  hash(row: number): string {
    const { bytes, offsets } = this.hashes;
    return bytes.toString('latin1', offsets[row], offsets[row + 1]);
  }

  lt(row: number): bigint {
    const { words } = this.lts;
    return (BigInt(words[2 * row + 1] as number) << 32n) | BigInt(words[2 * row] as number);
  }

  seqno(row: number): number {
    return this.seqnos.words[row] as number;
  }

  mcSeqno(row: number): number {
    return this.mcSeqnos.words[row] as number;
  }

  isIn(row: number, { header, shardLow, shardHigh }: Tally): boolean {
    return (
      ((this.workchains.words[row] as number) | 0) === header.workchain &&
      this.shards.words[2 * row] === shardLow &&
      this.shards.words[2 * row + 1] === shardHigh
    );
  }
}
