import { AuditError } from '../core/errors.ts';

/** What the plan and the count of transactions need of a block header. */
export interface Header {
  readonly workchain: number;
  /** Signed 64-bit id, decimal text. */
  readonly shard: string;
  readonly seqno: number;
  /** Masterchain block that includes this block. */
  readonly mcSeqno: number;
  readonly txCount: number;
  readonly startLt: bigint;
  readonly endLt: bigint;
}

/** The name of a block. */
export interface BlockRef {
  /** `-1:-9223372036854775808:1234`: tells it from all others. */
  readonly id: string;
  readonly workchain: number;
  readonly seqno: number;
}

/** A block with its own name and those of the blocks before it, by which headers are proven whole. */
export interface LinkedBlock extends BlockRef {
  /** Masterchain block that includes this block. */
  readonly mcSeqno: number;
  readonly prev: readonly BlockRef[];
}

/** A linked block with what its header says about its transactions. */
export interface CountedBlock extends LinkedBlock {
  readonly txCount: number;
  readonly startLt: bigint;
  readonly endLt: bigint;
}

/** A header as an answer tells it. */
export interface NamedHeader extends Header, BlockRef {}

interface WireRef {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
}

interface WireBlock extends WireRef {
  readonly tx_count: number;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly masterchain_block_ref: WireRef;
}

/**
 * The headers of an answer with `{"blocks": [...]}`.
 *
 * @throws {AuditError} `not-json` (retryable), or `not-headers` when the answer is something else
 */
export function parseHeaders(body: Buffer, request: string): readonly NamedHeader[] {
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString());
  } catch (cause) {
    const message = `audit blocks: expected JSON from ${request}, got ${body.length} other bytes`;
    throw new AuditError(message, { code: 'not-json', retryable: true, cause });
  }
  try {
    // Null is how a server may write an empty list; whoever asked knows whether that can be.
    // Every field is checked by the decoder before it reaches a table; what is read here is checked by its conversion.
    const { blocks } = answer as { readonly blocks: readonly WireBlock[] | null };
    return blocks === null ? [] : blocks.map(headerOf);
  } catch (cause) {
    throw new AuditError(`audit blocks: expected a list of headers from ${request}, got something else`, {
      code: 'not-headers',
      hint: 'is this the base URL of a TON Index v3 API? it ends in /api/v3',
      cause,
    });
  }
}

function headerOf(block: WireBlock): NamedHeader {
  const shard = signedShard(block.shard);
  return {
    id: blockId(block.workchain, shard, block.seqno),
    workchain: block.workchain,
    shard,
    seqno: block.seqno,
    mcSeqno: block.masterchain_block_ref.seqno,
    txCount: block.tx_count,
    startLt: BigInt(block.start_lt),
    endLt: BigInt(block.end_lt),
  };
}

function refOf({ workchain, shard, seqno }: WireRef): BlockRef {
  return { id: blockId(workchain, signedShard(shard), seqno), workchain, seqno };
}

/** The blocks before a block, from its `prev_blocks`: none where that is no list of references. */
export function parseLinks(json: string): readonly BlockRef[] {
  try {
    return (JSON.parse(json) as readonly WireRef[]).map(refOf);
  } catch {
    // A block without links is proven by nothing, and told as such.
    return [];
  }
}

/** The id of a block. */
export function blockId(workchain: number, shard: string, seqno: number): string {
  return `${workchain}:${shard}:${seqno}`;
}

/** Shards that were converted, which are few; forgotten when a source names too many. */
const shards = new Map<string, string>();
const MOST_SHARDS = 4096;

function signedShard(hex: string): string {
  const known = shards.get(hex);
  if (known !== undefined) return known;
  const signed = BigInt.asIntN(64, BigInt(`0x${hex}`)).toString();
  if (shards.size >= MOST_SHARDS) shards.clear();
  shards.set(hex, signed);
  return signed;
}
