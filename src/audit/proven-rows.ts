import type { LinkedBlock } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';

/** The committed transactions of one block. */
export interface ProvenBlock {
  readonly id: string;
  readonly mcSeqno: number;
  readonly rows: number;
  readonly firstLt: bigint;
  readonly lastLt: bigint;
}

/** Committed transactions, with which new headers of their blocks are compared. Plain data. */
export interface ProvenRows {
  /** Masterchain blocks whose transactions are committed. */
  readonly spans: readonly Span[];
  /** The blocks that have transactions. */
  readonly blocks: readonly ProvenBlock[];
}

/** A header that contradicts committed transactions, or that is missing for them. */
export interface Contradiction {
  readonly mcSeqno: number;
  readonly reason: string;
}

/**
 * Compares headers with transactions that were committed with earlier headers of the same blocks: counts must be equal, and logical
 * times inside the block. A source that changes its headers later does not make proven rows wrong.
 */
export function findContradictions(
  blocks: readonly LinkedBlock[],
  { spans, blocks: proven }: ProvenRows,
): readonly Contradiction[] {
  const isProven = (seqno: number): boolean => spans.some(({ from, to }) => seqno >= from && seqno <= to);
  const left = new Map(proven.map((block) => [`${block.mcSeqno} ${block.id}`, block]));
  const found: Contradiction[] = [];
  for (const { id, mcSeqno, txCount, startLt, endLt } of blocks) {
    if (!isProven(mcSeqno)) continue;
    const own = left.get(`${mcSeqno} ${id}`);
    left.delete(`${mcSeqno} ${id}`);
    const rows = own?.rows ?? 0;
    if (rows !== txCount) {
      const reason = `expected a header of block ${id} that counts its ${rows} committed transactions, got ${txCount}`;
      found.push({ mcSeqno, reason });
    } else if (own !== undefined && (own.firstLt < startLt || own.lastLt > endLt)) {
      const times = `${own.firstLt} to ${own.lastLt}`;
      const reason = `expected a header of block ${id} around its committed transactions (${times}), got ${startLt} to ${endLt}`;
      found.push({ mcSeqno, reason });
    }
  }
  for (const { id, mcSeqno, rows } of left.values()) {
    found.push({
      mcSeqno,
      reason: `expected a header of block ${id}, which has ${rows} committed transactions, got none`,
    });
  }
  return found;
}
