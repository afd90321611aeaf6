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
  const rows = readRows(decoder);
  const tallies = new Map(headers.map((header) => [header, 0]));
  const bySeqno = groupBySeqno(headers);
  const bad = new Map<number, string>();
  const accuse = (seqno: number, reason: string): void => {
    if (!bad.has(seqno)) bad.set(seqno, reason);
  };
  const seen = new Map<string, number>();
  for (let row = 0; row < decoder.records; row++) {
    const mcSeqno = rows.mcSeqno(row);
    if (mcSeqno < span.from || mcSeqno > span.to || !isAlive(row)) continue;
    const hash = rows.hash(row);
    const other = seen.get(hash);
    if (other !== undefined) {
      for (const seqno of [mcSeqno, other]) accuse(seqno, `expected transaction ${hash} once, got it twice`);
    }
    seen.set(hash, mcSeqno);
    const header = bySeqno.get(rows.seqno(row))?.find((candidate) => rows.isIn(row, candidate));
    if (header === undefined || header.mcSeqno !== mcSeqno) {
      const found = header === undefined ? 'one of an unknown block' : `one of masterchain block ${header.mcSeqno}`;
      accuse(mcSeqno, `expected only transactions of masterchain block ${mcSeqno}, got ${found} (${hash})`);
      continue;
    }
    tallies.set(header, (tallies.get(header) as number) + 1);
    const lt = rows.lt(row);
    if (lt < header.startLt || lt > header.endLt) {
      accuse(
        mcSeqno,
        `expected logical times ${header.startLt} to ${header.endLt} in block ${name(header)}, got ${lt}`,
      );
    }
  }
  for (const [header, count] of tallies) {
    const { mcSeqno, txCount } = header;
    if (mcSeqno < span.from || mcSeqno > span.to || count === txCount) continue;
    accuse(mcSeqno, `expected ${txCount} transactions in block ${name(header)}, got ${count}`);
  }
  return [...bad].map(([seqno, reason]) => ({ seqno, reason })).sort((a, b) => a.seqno - b.seqno);
}

function groupBySeqno(headers: readonly Header[]): ReadonlyMap<number, readonly Header[]> {
  const groups = new Map<number, Header[]>();
  for (const header of headers) {
    const group = groups.get(header.seqno);
    if (group === undefined) groups.set(header.seqno, [header]);
    else group.push(header);
  }
  return groups;
}

function name(header: Header): string {
  return `${header.workchain}:${BigInt.asUintN(64, BigInt(header.shard)).toString(16).toUpperCase()}:${header.seqno}`;
}

function readRows(decoder: Decoder) {
  const words = (column: string): WordsColumn => decoder.column(column) as WordsColumn;
  const hash = decoder.column('hash') as BytesColumn;
  const lt = words('lt');
  const workchain = words('block_workchain');
  const shard = words('block_shard');
  const seqno = words('block_seqno');
  const mcSeqno = words('mc_block_seqno');
  const wordsOf = memoize((text: string) => {
    const id = BigInt.asUintN(64, BigInt(text));
    return [Number(id & 0xffffffffn), Number(id >> 32n)] as const;
  });
  return {
    hash: (row: number): string => hash.bytes.toString('latin1', hash.offsets[row], hash.offsets[row + 1]),
    lt: (row: number): bigint => (BigInt(lt.words[2 * row + 1] as number) << 32n) | BigInt(lt.words[2 * row] as number),
    seqno: (row: number): number => seqno.words[row] as number,
    mcSeqno: (row: number): number => mcSeqno.words[row] as number,
    isIn: (row: number, header: Header): boolean => {
      const [low, high] = wordsOf(header.shard);
      return (
        ((workchain.words[row] as number) | 0) === header.workchain &&
        shard.words[2 * row] === low &&
        shard.words[2 * row + 1] === high
      );
    },
  };
}

function memoize<V>(compute: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = compute(key);
    known.set(key, value);
    return value;
  };
}
