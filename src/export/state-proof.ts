import { StateAudit, type StateBlock, type StateHeader } from '../audit/shard-coverage.ts';
import { blockId, parseLinks } from '../chain/headers.ts';
import { intersectSpans, type Span } from '../core/span.ts';
import type { WordsColumn } from '../decode/typed-columns.ts';
import type { Query } from '../sql/query-result.ts';
import { doneSpans } from '../warehouse/ledger/done-spans.ts';
import { type PageRows, type Pages, textOf } from './list-pages.ts';
import type { ListContext } from './list-run.ts';

/** The pipeline of headers. */
const HEADERS = 'blocks';
/** Masterchain blocks before a span whose headers are read: within so many, every shard has a new block. */
export const LOOK_BACK = 200;

/** Proves states of the shards by the headers that the warehouse holds. */
export class StateProof {
  private readonly audit: StateAudit;
  private readonly pages: Pages;

  private constructor(audit: StateAudit, pages: Pages) {
    this.audit = audit;
    this.pages = pages;
  }

  /** For the states of a span. */
  static async open({ store, ends }: ListContext, pages: Pages, span: Span): Promise<StateProof> {
    const near = [{ from: span.from - LOOK_BACK, to: span.to }];
    const runs = intersectSpans(near, doneSpans(store.ledger(), HEADERS));
    const headers = (await Promise.all(runs.map((run) => readStateHeaders(store.query, run)))).flat();
    return new StateProof(new StateAudit({ runs, headers, first: ends.first }), pages);
  }

  /** What is wrong with the state that was read for a masterchain block. */
  fault(seqno: number, read: readonly PageRows[]): string | undefined {
    const fault = this.audit.fault(seqno, this.blocksIn(read));
    return fault === undefined ? undefined : `expected ${fault.expected}, got ${fault.got}`;
  }

  private blocksIn(read: readonly PageRows[]): readonly StateBlock[] {
    const { decoder } = this.pages;
    const workchains = decoder.column('workchain') as WordsColumn;
    const shards = decoder.column('shard') as WordsColumn;
    const seqnos = decoder.column('seqno') as WordsColumn;
    const mcSeqnos = decoder.column('mc_block_seqno') as WordsColumn;
    const hashOf = textOf(decoder.column('root_hash'));
    return read.flatMap(({ from, to }) =>
      Array.from({ length: to - from }, (_, i): StateBlock => {
        const row = from + i;
        const workchain = (workchains.words[row * workchains.width] as number) | 0;
        const shard = shards.signed64(row);
        const seqno = seqnos.words[row * seqnos.width] as number;
        return {
          ...{ workchain, shard, id: blockId(workchain, shard.toString(), seqno) },
          mcSeqno: mcSeqnos.words[row * mcSeqnos.width] as number,
          rootHash: hashOf(row),
        };
      }),
    );
  }
}

/** The headers of some masterchain blocks, as far as states of the shards are proven by them. */
export async function readStateHeaders(query: Query, { from, to }: Span): Promise<readonly StateHeader[]> {
  const { rows } = await query(
    `SELECT mc_block_seqno, workchain, shard::VARCHAR, seqno, root_hash, prev_blocks
     FROM blocks WHERE mc_block_seqno BETWEEN $from AND $to`,
    { from, to },
  );
  // The types are those of the select above.
  return (rows as readonly (readonly [number, number, string, number, string, string | null])[]).map(
    ([mcSeqno, workchain, shard, seqno, rootHash, prev]) => ({
      ...{ id: blockId(workchain, shard, seqno), workchain, seqno, mcSeqno, rootHash },
      prev: parseLinks(prev ?? '[]'),
    }),
  );
}
