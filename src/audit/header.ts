import { AuditError } from '../errors.ts';

/** What the audits need of a block header. */
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
  readonly prev: readonly string[];
}

/** `-1:-9223372036854775808:1234`: tells one block from all others. */
export function blockId(workchain: number, shard: string, seqno: number): string {
  return `${workchain}:${shard}:${seqno}`;
}

export function headerId(header: Header): string {
  return blockId(header.workchain, header.shard, header.seqno);
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
  readonly masterchain_block_ref: WireRef;
  readonly prev_blocks: readonly WireRef[] | null;
}

/**
 * The headers of an answer with `{"blocks": [...]}`.
 *
 * @throws {AuditError} `not-headers` (retryable) when the answer is no such list.
 */
export function parseHeaders(body: Uint8Array, request: string): readonly Header[] {
  try {
    const answer: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
    // The decoder checks each field of each block; what is read here is checked by the conversions below.
    const { blocks } = answer as { readonly blocks: readonly WireBlock[] };
    return blocks.map(headerOf);
  } catch (cause) {
    throw new AuditError(`audit blocks: expected a list of headers from ${request}, got something else`, {
      code: 'not-headers',
      retryable: true,
      cause,
    });
  }
}

function headerOf(block: WireBlock): Header {
  return {
    workchain: block.workchain,
    shard: signedShard(block.shard),
    seqno: block.seqno,
    mcSeqno: block.masterchain_block_ref.seqno,
    txCount: block.tx_count,
    startLt: BigInt(block.start_lt),
    endLt: BigInt(block.end_lt),
    prev: (block.prev_blocks ?? []).map((ref) => blockId(ref.workchain, signedShard(ref.shard), ref.seqno)),
  };
}

function signedShard(hex: string): string {
  return BigInt.asIntN(64, BigInt(`0x${hex}`)).toString();
}
