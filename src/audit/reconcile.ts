import type { BytesColumn, WordsColumn } from '../flatten/columns.ts';
import type { Decoder, Mark } from '../flatten/decoder.ts';
import type { Header } from './header.ts';

/** One way in which the rows of a masterchain block and its headers disagree. */
export interface Difference {
  /** `0:2000000000000000:123`, or the masterchain block as a whole. */
  readonly block: string;
  readonly expected: string;
  readonly got: string;
}

/**
 * Compares the transactions decoded since `mark` with the headers of one masterchain block: for every block exactly `tx_count`
 * rows, each with a logical time inside the block, none twice, none of another masterchain block.
 */
export function reconcileBlock(
  decoder: Decoder,
  mark: Mark,
  seqno: number,
  headers: readonly Header[],
): readonly Difference[] {
  const differences: Difference[] = [];
  const rows = readRows(decoder);
  const counted = new Map(headers.map((header) => [header, 0]));
  const seen = new Set<string>();
  for (let row = mark[0] as number; row < decoder.records; row++) {
    const hash = rows.hash(row);
    if (seen.has(hash))
      differences.push({ block: `masterchain block ${seqno}`, expected: `${hash} once`, got: 'it twice' });
    seen.add(hash);
    const header = headers.find((candidate) => rows.isIn(row, candidate));
    if (header === undefined || rows.mcSeqno(row) !== seqno) {
      differences.push({ block: `masterchain block ${seqno}`, expected: 'only its own transactions', got: hash });
      continue;
    }
    counted.set(header, (counted.get(header) as number) + 1);
    const lt = rows.lt(row);
    if (lt < header.startLt || lt > header.endLt) {
      differences.push({
        block: name(header),
        expected: `lt ${header.startLt} to ${header.endLt}`,
        got: `${lt} of ${hash}`,
      });
    }
  }
  for (const [header, count] of counted) {
    if (count !== header.txCount) {
      differences.push({ block: name(header), expected: `${header.txCount} transactions`, got: String(count) });
    }
  }
  return differences;
}

/** `expected 5 transactions in block 0:2000000000000000:123, got 4`, for the first difference. */
export function describeDifferences(differences: readonly Difference[]): string {
  const [first] = differences;
  if (first === undefined) return 'no difference';
  const more = differences.length > 1 ? ` (and ${differences.length - 1} more)` : '';
  return `expected ${first.expected} in block ${first.block}, got ${first.got}${more}`;
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
  const blockSeqno = words('block_seqno');
  const mcSeqno = words('mc_block_seqno');
  const shardWords = new Map<string, readonly [number, number]>();
  const wordsOf = (text: string): readonly [number, number] => {
    const known = shardWords.get(text);
    if (known !== undefined) return known;
    const id = BigInt.asUintN(64, BigInt(text));
    const pair = [Number(id & 0xffffffffn), Number(id >> 32n)] as const;
    shardWords.set(text, pair);
    return pair;
  };
  return {
    hash: (row: number): string => hash.bytes.toString('latin1', hash.offsets[row], hash.offsets[row + 1]),
    lt: (row: number): bigint => (BigInt(lt.words[2 * row + 1] as number) << 32n) | BigInt(lt.words[2 * row] as number),
    mcSeqno: (row: number): number => mcSeqno.words[row] as number,
    isIn: (row: number, header: Header): boolean => {
      const [low, high] = wordsOf(header.shard);
      return (
        blockSeqno.words[row] === header.seqno &&
        ((workchain.words[row] as number) | 0) === header.workchain &&
        shard.words[2 * row] === low &&
        shard.words[2 * row + 1] === high
      );
    },
  };
}
