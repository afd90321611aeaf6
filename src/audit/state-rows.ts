import { blockId } from '../chain/headers.ts';
import type { Decoder } from '../decode/decoder.ts';
import { textOf } from '../decode/row-keys.ts';
import type { WordsColumn } from '../decode/typed-columns.ts';
import type { StateBlock } from './shard-coverage.ts';

/** Some of the shard states in a decoder, to be compared with proven headers. */
export function readStateRows(decoder: Decoder, rows: readonly number[]): readonly StateBlock[] {
  const workchains = decoder.column('workchain') as WordsColumn;
  const shards = decoder.column('shard') as WordsColumn;
  const seqnos = decoder.column('seqno') as WordsColumn;
  const mcSeqnos = decoder.column('mc_block_seqno') as WordsColumn;
  const hashOf = textOf(decoder.column('root_hash'));
  return rows.map((row): StateBlock => {
    const workchain = (workchains.words[row * workchains.width] as number) | 0;
    const shard = shards.signed64(row);
    const seqno = seqnos.words[row * seqnos.width] as number;
    return {
      ...{ workchain, shard, id: blockId(workchain, shard.toString(), seqno) },
      mcSeqno: mcSeqnos.words[row * mcSeqnos.width] as number,
      rootHash: hashOf(row) ?? '',
    };
  });
}
