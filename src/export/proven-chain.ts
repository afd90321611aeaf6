import { fetchMasterBlock, type IndexEnds, type MasterBlock } from '../chain/index-head.ts';
import { WalkError } from '../core/errors.ts';
import { blockAt, intersectSpans, leastWhere, type Span, totalSize } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import type { Source } from '../http/source.ts';
import { doneSpans, entriesIn, type Store } from '../warehouse/index.ts';

/** Error code: the source serves other blocks than those in the warehouse. */
const OTHER_CHAIN = 'other-chain';

/**
 * Compares a source with the proven masterchain blocks of a warehouse. Responses do not name their network, and a testnet keeps its
 * address after a reset: only block hashes show that the chain is the same.
 */
export class ProvenChain {
  private readonly store: Store;
  private readonly registry: Registry;

  constructor(store: Store, registry: Registry) {
    this.store = store;
    this.registry = registry;
  }

  /** Masterchain blocks whose headers are proven. */
  get spans(): readonly Span[] {
    return doneSpans(this.store.ledger(), this.pipeline);
  }

  /** A proven masterchain block; undefined if its header is not in the warehouse. */
  async read(seqno: number): Promise<MasterBlock | undefined> {
    const { store, registry } = this;
    const headers = registry.playing('headers');
    const entries = entriesIn(store.ledger(), headers, [{ from: seqno, to: seqno }]);
    if (entries.length === 0) return undefined;
    const { rows } = await store.query(
      `SELECT root_hash::VARCHAR, gen_utime::BIGINT FROM (${store.rows.select(headers.table, entries)})
       WHERE workchain = -1 AND seqno = $seqno`,
      { seqno },
    );
    const [row] = rows;
    return row === undefined ? undefined : { seqno, rootHash: String(row[0]), time: Number(row[1] ?? 0) * 1000 };
  }

  /**
   * Requires that the newest proven block of the index is the same at the source. An index that begins after all proven blocks cannot be
   * compared.
   *
   * @param ending aborted to retry no request
   * @throws {WalkError} `other-chain` with the first block that differs; `head-back`, retryable, if the index has no proven block yet
   */
  async requireSame(source: Source, { first, last }: IndexEnds, ending?: AbortSignal): Promise<void> {
    const { spans } = this;
    const common = intersectSpans(spans, [{ from: first, to: last }]);
    const newest = common.at(-1)?.to;
    if (newest !== undefined && !(await this.isSame(source, newest, ending))) {
      throw await this.difference(source, common, ending);
    }
    if (newest === undefined && spans.some(({ from }) => from > last)) {
      throw new WalkError(`walk ${this.pipeline} ${last}: expected a head above the proven blocks, got ${last}`, {
        code: 'head-back',
        retryable: true,
        hint: 'nothing is written until the index has a proven block to compare',
      });
    }
  }

  private async isSame(source: Source, seqno: number, ending: AbortSignal | undefined): Promise<boolean> {
    const [own, theirs] = await Promise.all([this.read(seqno), fetchMasterBlock(source, seqno, { ending })]);
    return own === undefined || own.rootHash === theirs.rootHash;
  }

  /** The error that names the first proven block of another chain: all blocks after it differ, too. */
  private async difference(
    source: Source,
    common: readonly Span[],
    ending: AbortSignal | undefined,
  ): Promise<WalkError> {
    const places = { from: 0, to: totalSize(common) - 1 };
    const place = await leastWhere(places, async (each) => !(await this.isSame(source, blockAt(common, each), ending)));
    const seqno = blockAt(common, place);
    const [own, theirs] = await Promise.all([this.read(seqno), fetchMasterBlock(source, seqno, { ending })]);
    return new WalkError(
      `walk ${this.pipeline} ${seqno}: expected the proven block ${seqno} with hash ${own?.rootHash}, got ${theirs.rootHash}; nothing was written`,
      {
        code: OTHER_CHAIN,
        hint: 'the network was reset, or the address serves another one: export it to another --warehouse',
      },
    );
  }

  private get pipeline(): string {
    return this.registry.playing('headers').pipeline.name;
  }
}
