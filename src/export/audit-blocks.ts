import { AuditError, type TonlakeError } from '../core/errors.ts';
import { type Span, subtractSpans } from '../core/span.ts';
import { DOUBLE_KEY, type PageRows, type Pages, type RefusedRow } from './list-pages.ts';
import type { StateProof } from './state-proof.ts';

/** Rows of one block, or why there are none. */
export type BlockRows =
  | { readonly kind: 'rows'; readonly pages: readonly PageRows[] }
  | { readonly kind: 'refused'; readonly refused: readonly RefusedRow[] }
  | { readonly kind: 'failed'; readonly error: TonlakeError };

/** What was read of each block so far. */
export type Blocks = Map<number, BlockRows>;

/** A block whose rows cannot be committed, and why. */
export interface BadBlock {
  readonly seqno: number;
  readonly reason: string;
  readonly code: string;
}

/** Blocks with a row that has the key of another row, or whose state of the shards is not whole. */
export function auditBlocks(pages: Pages, blocks: Blocks, states: StateProof | undefined): readonly BadBlock[] {
  const seqnos = new Map<number, number>();
  const bad = new Map<number, BadBlock>();
  for (const [seqno, block] of blocks) {
    if (block.kind !== 'rows') continue;
    for (const row of rowsIn(block.pages)) seqnos.set(row, seqno);
    const fault = states?.fault(seqno, block.pages);
    if (fault !== undefined) bad.set(seqno, { seqno, reason: fault, code: 'unbalanced' });
  }
  for (const { rows, reason } of pages.twins(Int32Array.from(seqnos.keys()))) {
    for (const seqno of rows.flatMap((row) => seqnos.get(row) ?? [])) {
      bad.set(seqno, { seqno, reason, code: DOUBLE_KEY });
    }
  }
  return [...bad.values()];
}

/** Blocks that are wrong are not in. */
export function failBlocks(pipeline: string, blocks: Blocks, bad: readonly BadBlock[]): void {
  for (const { seqno, reason, code } of bad) {
    const error = new AuditError(`audit ${pipeline} ${seqno}: ${reason}`, { code });
    blocks.set(seqno, { kind: 'failed', error });
  }
}

/** The parts of a span whose blocks are in. */
export function goodParts(blocks: ReadonlyMap<number, BlockRows>, { from, to }: Span): readonly Span[] {
  const bad = seqnosOf(from, to).filter((seqno) => blocks.get(seqno)?.kind !== 'rows');
  return subtractSpans(
    [{ from, to }],
    bad.map((seqno) => ({ from: seqno, to: seqno })),
  );
}

export function seqnosOf(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** Rows of the blocks of a span that are in. */
export function rowsOf(blocks: ReadonlyMap<number, BlockRows>, span: Span): Int32Array {
  const rows: number[] = [];
  for (let seqno = span.from; seqno <= span.to; seqno++) {
    const block = blocks.get(seqno);
    if (block?.kind === 'rows') for (const row of rowsIn(block.pages)) rows.push(row);
  }
  return Int32Array.from(rows);
}

function* rowsIn(pages: readonly PageRows[]): Generator<number> {
  for (const { from, to } of pages) for (let row = from; row < to; row++) yield row;
}
