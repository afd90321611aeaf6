import type { LinkEnds, LinkGaps, MissingBlock } from '../audit/header-links.ts';
import type { BadBlock } from '../audit/reconcile.ts';
import { type Header, type NamedHeader, parseHeaders } from '../chain/headers.ts';
import { fetchShardState } from '../chain/index-ends.ts';
import { greatest, type Span } from '../core/span.ts';
import type { Answer } from '../http/request.ts';
import { RetryableFailure } from '../http/retryable-failure.ts';
import type { Source } from '../http/source.ts';
import type { ProvableRows } from './span-walk.ts';

/** Number of transactions by some headers. */
export function promisedRows(headers: readonly Header[]): number {
  return headers.reduce((sum, header) => sum + header.txCount, 0);
}

export interface LinkProofOptions {
  readonly span: Span;
  readonly ends: LinkEnds;
  readonly source: Source;
  readonly pipeline: string;
  /** Called with the number of headers so far. */
  readonly onCount?: (headers: number) => void;
}

/** How the headers of a span are proven whole. */
export interface LinkProof {
  /** Checks the list of a block before it is loaded. @throws a retryable error if it is incomplete */
  see(seqno: number, answer: Answer): void;
  /** Masterchain blocks of the span without proof. */
  audit(rows: Pick<ProvableRows, 'links'>): Promise<readonly BadBlock[]>;
}

/** Proves headers by their links, between the states at both ends of the span. */
export function linkProof({ span, ends, source, pipeline, onCount }: LinkProofOptions): LinkProof {
  /** Blocks whose successors are in a missing masterchain block: the states right before such blocks name them. */
  const newestBeforeHoles = async ({ missing, stray }: LinkGaps): Promise<ReadonlySet<string>> => {
    const newest = new Set<string>();
    for (const seqno of stray.length === 0 ? [] : absentSeqnos(missing)) {
      if (seqno <= span.from) continue;
      for (const header of await fetchShardState(source, seqno - 1, pipeline)) newest.add(header.id);
    }
    return newest;
  };

  /** Blocks of the span that only the first blocks of the index refer to. */
  const unlisted = async ({ older }: LinkGaps): Promise<LinkGaps['missing']> => {
    const found: MissingBlock[] = [];
    for (const block of older) {
      const header = await findBlock(source, block.id, pipeline);
      if (header !== undefined && header.mcSeqno >= span.from) found.push(block);
    }
    return found;
  };

  return {
    see(seqno, { body, request }) {
      requireMasterBlock(parseHeaders(body, request), seqno, pipeline);
    },
    async audit(rows) {
      const { blocks, contradicted, ...gaps } = await rows.links(ends);
      onCount?.(blocks);
      const newest = await newestBeforeHoles(gaps);
      const stray = gaps.stray.filter((block) => !newest.has(block.id));
      const missing = [...gaps.missing, ...(await unlisted(gaps))];
      const unlinked = await blame({ ...gaps, missing, stray }, span, (id) => findBlock(source, id, pipeline));
      const isBlamed = new Set(unlinked.map(({ seqno }) => seqno));
      const others = contradicted.filter(({ mcSeqno }) => !isBlamed.has(mcSeqno));
      return [...unlinked, ...new Map(others.map(({ mcSeqno: seqno, reason }) => [seqno, { seqno, reason }])).values()];
    },
  };
}

/** A list without its own masterchain block is incomplete, or the block is not indexed yet. */
function requireMasterBlock(headers: readonly Header[], seqno: number, pipeline: string): void {
  if (headers.some((header) => header.workchain === -1 && header.seqno === seqno)) return;
  throw new RetryableFailure(`${pipeline} ${seqno}`, {
    code: 'not-indexed',
    what: `block ${seqno} is still not indexed`,
    hint: 'try again later, or raise --wait',
    pause: { kind: 'poll' },
  });
}

/**
 * The masterchain blocks with wrong lists: those of blocks that come twice or have wrong links, and those of missing blocks. A missing
 * block that the source does not know belongs to the nearest missing masterchain block before, or else to the block that refers to it.
 */
async function blame(
  { missing, stray, unlinked, twice }: LinkGaps,
  span: Span,
  find: (id: string) => Promise<NamedHeader | undefined>,
): Promise<readonly BadBlock[]> {
  const bad = new Map<number, string>();
  for (const { id, mcSeqno } of twice) bad.set(mcSeqno, `expected block ${id} once, got it twice`);
  for (const { id, mcSeqno } of stray) bad.set(mcSeqno, `expected linked blocks only, got ${id}`);
  for (const { id, mcSeqno, prev } of unlinked) {
    const got = prev.map((ref) => ref.id).join(' and ') || 'no link';
    bad.set(mcSeqno, `expected block ${id} to link to the one before it, got ${got}`);
  }
  const absent = absentSeqnos(missing);
  for (const { id, seenFrom } of missing) {
    const found = (await find(id))?.mcSeqno ?? greatest(absent.filter((seqno) => seqno <= seenFrom));
    const seqno = found >= span.from && found <= span.to ? found : seenFrom;
    bad.set(seqno, `expected block ${id} that others refer to, got none`);
  }
  return [...bad].map(([seqno, reason]) => ({ seqno, reason }));
}

/** Missing masterchain blocks. */
function absentSeqnos(missing: LinkGaps['missing']): readonly number[] {
  return missing.filter(({ id }) => id.startsWith('-1:')).map(({ id }) => Number(id.split(':')[2]));
}

async function findBlock(source: Source, id: string, pipeline: string): Promise<NamedHeader | undefined> {
  const [workchain = '', shard = '', seqno = ''] = id.split(':');
  const hex = BigInt.asUintN(64, BigInt(shard)).toString(16).toUpperCase();
  const query = [
    ['workchain', workchain],
    ['shard', hex],
    ['seqno', seqno],
    ['limit', '10'],
  ] as const;
  return source.fetch({ path: '/blocks', query, label: `${pipeline} ${id}` }, ({ body, request }) =>
    parseHeaders(body, request).find((header) => header.id === id),
  );
}
