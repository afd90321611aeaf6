import { blockId, type CountedBlock, parseLinks } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import type { Decoder } from '../decode/decoder.ts';
import type { BytesColumn, WordsColumn } from '../decode/typed-columns.ts';

/** The headers in a decoder as their links prove them: from the rows that are written, not from what the source sent. */
export class LinkRows {
  private readonly decoder: Decoder;
  private readonly workchains: WordsColumn;
  private readonly shards: WordsColumn;
  private readonly seqnos: WordsColumn;
  private readonly mcSeqnos: WordsColumn;
  private readonly links: BytesColumn;
  private readonly txCounts: WordsColumn;
  private readonly startLts: WordsColumn;
  private readonly endLts: WordsColumn;

  constructor(decoder: Decoder) {
    this.decoder = decoder;
    this.workchains = decoder.column('workchain') as WordsColumn;
    this.shards = decoder.column('shard') as WordsColumn;
    this.seqnos = decoder.column('seqno') as WordsColumn;
    this.mcSeqnos = decoder.column('mc_block_seqno') as WordsColumn;
    this.links = decoder.column('prev_blocks') as BytesColumn;
    this.txCounts = decoder.column('tx_count') as WordsColumn;
    this.startLts = decoder.column('start_lt') as WordsColumn;
    this.endLts = decoder.column('end_lt') as WordsColumn;
  }

  /** The blocks of a span's masterchain blocks, without rows that `isAlive` denies. */
  read(span: Span, isAlive: (row: number) => boolean): readonly CountedBlock[] {
    const blocks: CountedBlock[] = [];
    for (let row = 0; row < this.decoder.records; row++) {
      const mcSeqno = this.mcSeqnos.words[row] as number;
      if (mcSeqno >= span.from && mcSeqno <= span.to && isAlive(row)) blocks.push(this.block(row, mcSeqno));
    }
    return blocks;
  }

  private block(row: number, mcSeqno: number): CountedBlock {
    const workchain = (this.workchains.words[row] as number) | 0;
    const seqno = this.seqnos.words[row] as number;
    const { bytes, offsets } = this.links;
    const links = this.links.isSet(row) ? parseLinks(bytes.toString('utf8', offsets[row], offsets[row + 1])) : [];
    return {
      id: blockId(workchain, this.shards.signed64(row).toString(), seqno),
      workchain,
      seqno,
      mcSeqno,
      prev: links,
      txCount: this.txCounts.words[row * this.txCounts.width] as number,
      startLt: this.startLts.signed64(row),
      endLt: this.endLts.signed64(row),
    };
  }
}
