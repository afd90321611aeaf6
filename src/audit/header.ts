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
 * @throws {AuditError} `not-json` (retryable), or `not-headers` when the answer is something else
 */
export function parseHeaders(body: Buffer, request: string): readonly Header[] {
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString());
  } catch (cause) {
    const message = `audit blocks: expected JSON from ${request}, got ${body.length} bytes that are not`;
    throw new AuditError(message, { code: 'not-json', retryable: true, cause });
  }
  try {
    // Every field is checked by the decoder before it reaches a table; what is read here is checked by its conversion.
    const { blocks } = answer as { readonly blocks: readonly WireBlock[] };
    return blocks.map(headerOf);
  } catch (cause) {
    throw new AuditError(`audit blocks: expected a list of headers from ${request}, got something else`, {
      code: 'not-headers',
      hint: 'is this the base address of a TON Index v3 API? it ends in /api/v3',
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
