import { AuditError } from '../core/errors.ts';

/** The fields of a block header that plans and proofs use. */
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
  /** Unix time of the block, which all of its transactions have. */
  readonly utime: number;
}

/** The name of a block. */
export interface BlockRef {
  /** Unique: `-1:-9223372036854775808:1234`. */
  readonly id: string;
  readonly workchain: number;
  /** Signed 64-bit id, decimal text. */
  readonly shard: string;
  readonly seqno: number;
}

/** A header with its name. */
export interface NamedHeader extends Header, BlockRef {}

/** A header with references to the blocks before it, which prove that headers are complete. */
export interface LinkedBlock extends NamedHeader {
  readonly prev: readonly BlockRef[];
}

interface WireRef {
  readonly workchain: number;
  readonly shard: string;
  readonly seqno: number;
}

interface WireBlock extends WireRef {
  readonly tx_count: number;
  readonly start_lt: string;
  readonly end_lt: string;
  readonly gen_utime: string;
  readonly masterchain_block_ref: WireRef;
}

/**
 * The headers of a response `{"blocks": [...]}`.
 *
 * @throws {AuditError} `not-json` (retryable), or `not-headers` for anything else
 */
export function parseHeaders(body: Buffer, request: string): readonly NamedHeader[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch (cause) {
    const message = `audit blocks: expected JSON from ${request}, got ${body.length} other bytes`;
    throw new AuditError(message, { code: 'not-json', retryable: true, cause });
  }
  try {
    // Servers may send null for an empty list. The decoder checks every field before it reaches a table.
    const { blocks } = parsed as { readonly blocks: readonly WireBlock[] | null };
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
    utime: Number(block.gen_utime),
  };
}

function refOf({ workchain, shard: hex, seqno }: WireRef): BlockRef {
  const shard = signedShard(hex);
  return { id: blockId(workchain, shard, seqno), workchain, shard, seqno };
}

/** The blocks before a block, from its `prev_blocks`; none if it is not a list of references. */
export function parseLinks(json: string): readonly BlockRef[] {
  try {
    return (JSON.parse(json) as readonly WireRef[]).map(refOf);
  } catch {
    // A block without links is reported as unlinked.
    return [];
  }
}

/** The id of a block. */
export function blockId(workchain: number, shard: string, seqno: number): string {
  return `${workchain}:${shard}:${seqno}`;
}

/** Converted shard ids; cleared if a source sends too many. */
const shards = new Map<string, string>();
const MAX_SHARDS = 4096;

function signedShard(hex: string): string {
  const known = shards.get(hex);
  if (known !== undefined) return known;
  const signed = BigInt.asIntN(64, BigInt(`0x${hex}`)).toString();
  if (shards.size >= MAX_SHARDS) shards.clear();
  shards.set(hex, signed);
  return signed;
}
