import { blockId, type CountedBlock, parseLinks } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import type { Decoder } from '../decode/decoder.ts';
import type { BytesColumn, WordsColumn } from '../decode/typed-columns.ts';

/**
 * The headers in a decoder, for the proof by links: it uses the rows that are written, not the response.
 *
 * @param span masterchain blocks
 * @param isAlive false for rows that are left out
 */
export function readLinkRows(decoder: Decoder, span: Span, isAlive: (row: number) => boolean): readonly CountedBlock[] {
  const words = (name: string): WordsColumn => decoder.column(name) as WordsColumn;
  const [workchains, shards, seqnos] = [words('workchain'), words('shard'), words('seqno')];
  const [mcSeqnos, txCounts] = [words('mc_block_seqno'), words('tx_count')];
  const [startLts, endLts] = [words('start_lt'), words('end_lt')];
  const links = decoder.column('prev_blocks') as BytesColumn;
  const blocks: CountedBlock[] = [];
  for (let row = 0; row < decoder.records; row++) {
    const mcSeqno = mcSeqnos.words[row] as number;
    if (mcSeqno < span.from || mcSeqno > span.to || !isAlive(row)) continue;
    const workchain = (workchains.words[row] as number) | 0;
    const seqno = seqnos.words[row] as number;
    const { bytes, offsets } = links;
    blocks.push({
      id: blockId(workchain, shards.signed64(row).toString(), seqno),
      workchain,
      seqno,
      mcSeqno,
      prev: links.isSet(row) ? parseLinks(bytes.toString('utf8', offsets[row], offsets[row + 1])) : [],
      txCount: txCounts.words[row * txCounts.width] as number,
      startLt: startLts.signed64(row),
      endLt: endLts.signed64(row),
    });
  }
  return blocks;
}
