import { coversAll } from '../audit/shard-coverage.ts';
import { fetchEnds, fetchShardState } from '../chain/index-ends.ts';
import { WalkError } from '../core/errors.ts';
import type { LtWindow } from './lt-windows.ts';
import type { WalkContext } from './walk-context.ts';

/** Finds the range of logical time of spans of masterchain blocks. */
export class Horizon {
  private readonly context: WalkContext;
  private readonly known = new Map<number, Promise<bigint>>();

  constructor(context: WalkContext) {
    this.context = context;
  }

  /** From the safe horizon of the block before a span to that of its last block. */
  async rangeOf(from: number, to: number): Promise<LtWindow> {
    const start = from <= this.context.ends.first ? await this.firstLt() : await this.at(from - 1);
    return { from: start, to: (await this.at(to)) - 1n };
  }

  /** The safe horizon: every transaction below it belongs to this masterchain block or an earlier one. */
  private at(seqno: number): Promise<bigint> {
    const known = this.known.get(seqno) ?? this.fetch(seqno);
    if (!this.known.has(seqno)) {
      // The end of one span is the start of the next; others are not needed again.
      if (this.known.size > 8) this.known.clear();
      this.known.set(seqno, known);
    }
    return known;
  }

  private async fetch(seqno: number): Promise<bigint> {
    const { source, pipeline } = this.context;
    const label = `${pipeline.name} ${seqno}`;
    const shards = await fetchShardState(source, seqno, label);
    if (!coversAll(shards.map(({ workchain, shard }) => ({ workchain, shard: BigInt(shard) })))) {
      throw new WalkError(`walk ${label}: expected the newest block of every shard, got some`, {
        code: 'no-horizon',
        hint: 'the index begins after the newest block of a shard: ask from a later block on',
      });
    }
    return shards.reduce((least, { endLt }) => (endLt < least ? endLt : least), shards[0]?.endLt ?? 0n);
  }

  /** First logical time of the first indexed block. */
  private async firstLt(): Promise<bigint> {
    const { source, ends } = this.context;
    const { first } = ends.first === 0 ? await fetchEnds(source) : ends;
    return source.fetch(
      {
        path: '/blocks',
        query: [
          ['mc_seqno', String(first)],
          ['limit', '1000'],
        ],
      },
      ({ body }) => {
        const starts = [...body.toString().matchAll(/"start_lt":\s*"(\d+)"/g)].map(([, lt]) => BigInt(lt ?? 0));
        return starts.reduce((least, lt) => (lt < least ? lt : least), starts[0] ?? 0n);
      },
    );
  }
}
