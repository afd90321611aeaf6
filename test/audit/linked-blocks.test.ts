import { describe, expect, test } from 'vitest';
import blocks from '../../pipelines/blocks.ts';
import { readLinkedBlocks } from '../../src/audit/header-links.ts';
import { blockId, type LinkedBlock } from '../../src/chain/headers.ts';
import { Decoder } from '../../src/decode/decoder.ts';
import { goldenCases, readAnswer } from '../fixtures.ts';

const EVERYTHING = { from: 0, to: 2 ** 31 - 1 };

function rowsOf(page: Buffer, span = EVERYTHING, isAlive = (_: number) => true): readonly LinkedBlock[] {
  const decoder = new Decoder(blocks);
  decoder.decode(page);
  return readLinkedBlocks(decoder, span, isAlive);
}

interface Ref {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
}

interface Told extends Ref {
  readonly masterchain_block_ref: Ref;
  readonly prev_blocks: readonly Ref[];
  readonly tx_count: number;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly gen_utime: string;
}

/** The same as `JSON.parse` tells it. */
function parsed(page: Buffer): readonly LinkedBlock[] {
  const { blocks } = JSON.parse(page.toString()) as {
    readonly blocks: readonly Told[];
  };
  return blocks.map((block) => ({
    ...named(block),
    mcSeqno: block.masterchain_block_ref.seqno,
    prev: block.prev_blocks.map(named),
    txCount: block.tx_count,
    startLt: BigInt(block.start_lt),
    endLt: BigInt(block.end_lt),
    utime: Number(block.gen_utime),
  }));
}

function named({ workchain, shard: hex, seqno }: Ref) {
  const shard = String(BigInt.asIntN(64, BigInt(`0x${hex}`)));
  return { id: blockId(workchain, shard, seqno), workchain, shard, seqno };
}

describe('links of decoded headers', () => {
  test.each(goldenCases('blocks').map(({ name }) => name))('are those of the recorded answer %s', (name) => {
    const page = readAnswer('blocks', name);
    const headers = parsed(page);
    expect(headers.length).toBeGreaterThan(0);
    expect(rowsOf(page)).toEqual(headers);
  });

  const page = readAnswer('blocks', 'masterchainBlockShards');
  const all = rowsOf(page);

  test('leave out other masterchain blocks, and rows that are forgotten', () => {
    const { mcSeqno } = all[0] as LinkedBlock;
    expect(rowsOf(page, { from: mcSeqno, to: mcSeqno })).toEqual(all);
    expect(rowsOf(page, { from: mcSeqno + 1, to: mcSeqno + 9 })).toEqual([]);
    expect(rowsOf(page, EVERYTHING, (row) => row !== 1)).toEqual(all.toSpliced(1, 1));
  });

  test.each([
    'null',
    '{}',
    '"text"',
    '[null]',
    '[{"workchain":0,"seqno":1}]',
    '[{"workchain":0,"shard":"xyz","seqno":1}]',
  ])('are none where prev_blocks is %s', (prev) => {
    const changed = page.toString().replace(/"prev_blocks":\s*\[[^\]]*\]/g, `"prev_blocks":${prev}`);
    const links = rowsOf(Buffer.from(changed));
    expect(links).toHaveLength(all.length);
    for (const block of links) expect(block.prev).toEqual([]);
  });
});
