import type { LinkEnds, LinkGaps, MissingBlock, ShardState } from '../audit/header-links.ts';
import type { ProvenRows } from '../audit/proven-rows.ts';
import type { BadBlock } from '../audit/reconcile.ts';
import { type Header, type NamedHeader, parseHeaders } from '../chain/headers.ts';
import { fetchShardState } from '../chain/index-ends.ts';
import { SourceError } from '../core/errors.ts';
import { shardHex } from '../core/format.ts';
import { intersectSpans, type Span, seqnosOf, unionSpans } from '../core/span.ts';
import type { SourceResponse } from '../http/request.ts';
import { RetryableFailure } from '../http/retryable-failure.ts';
import type { Source } from '../http/source.ts';
import type { ProvableRows } from './span-walk.ts';

/** Sum of the transaction counts of some headers. */
export function txCountOf(headers: readonly Header[]): number {
  return headers.reduce((sum, header) => sum + header.txCount, 0);
}

export interface LinkProofOptions {
  readonly span: Span;
  readonly ends: LinkEnds;
  readonly source: Source;
  readonly pipeline: string;
}

type Rows = Pick<ProvableRows, 'links' | 'signal' | 'answered'>;

/** Proves that the headers of a span are complete. */
export interface LinkProof {
  /** Checks the list of a block before it is loaded. @throws a retryable error if it is incomplete */
  see(seqno: number, answer: SourceResponse): void;
  /** Masterchain blocks of the span without proof. */
  audit(rows: Rows): Promise<readonly BadBlock[]>;
  /** As `audit`, for blocks that were requested one by one, between the states around them. */
  auditAlone(rows: Rows, blocks: readonly Span[]): Promise<readonly BadBlock[]>;
}

/**
 * Proves headers by their links, between the states at both ends of the span. If blocks are left out, nothing links to the block before
 * them: it is compared with the shard state there.
 */
export function linkProof(options: LinkProofOptions): LinkProof {
  const { span: whole, ends: wholeEnds, source, pipeline } = options;
  const states = new StatesWithin(options);

  /** Missing blocks of a span that only the first blocks of the index reference. */
  const unlisted = async ({ older }: LinkGaps, span: Span, signal: AbortSignal): Promise<LinkGaps['missing']> => {
    const found: MissingBlock[] = [];
    for (const { id } of older) {
      const header = await findBlock(source, id, pipeline, signal);
      if (header !== undefined && header.mcSeqno >= span.from) found.push({ id, seenFrom: header.mcSeqno });
    }
    return found;
  };

  const auditBetween = async (rows: Rows, span: Span, ends: LinkEnds): Promise<readonly BadBlock[]> => {
    for (;;) {
      const { contradicted, ...gaps } = await rows.links(span, { ...ends, within: states.within(span) });
      const bad = new Map(contradicted.map(({ mcSeqno, reason }) => [mcSeqno, reason]));
      const missing = [...gaps.missing, ...(await unlisted(gaps, span, rows.signal))];
      await blame({ ...gaps, missing }, span, states, bad);
      if (await states.fetchBefore(span, bad)) continue;
      // Must come last: the state at a hole explains a chain that ends right below it.
      for (const { id, mcSeqno } of gaps.stray) bad.set(mcSeqno, `expected linked blocks only, got ${id}`);
      if (await states.fetchBefore(span, bad)) continue;
      return [...bad].map(([seqno, reason]) => ({ seqno, reason }));
    }
  };

  return {
    see(seqno, { body, request }) {
      requireMasterBlock(parseHeaders(body, request), seqno, pipeline);
    },
    audit(rows) {
      states.signal = rows.signal;
      return auditBetween(rows, whole, wholeEnds);
    },
    async auditAlone(rows, blocks) {
      states.signal = rows.signal;
      const bad: BadBlock[] = [];
      for (const { from, to } of answeredSpans(blocks, rows.answered)) {
        for (let last = to; last >= from; last--) {
          const before = from === whole.from ? wholeEnds.before : (await states.at(from - 1))?.ids;
          const after = await states.at(last);
          if (after === undefined || (before === undefined && from > whole.from)) {
            bad.push({ seqno: last, reason: NO_STATE_REASON });
            continue;
          }
          const span = { from, to: last };
          const proven = wholeEnds.proven && provenIn(wholeEnds.proven, span);
          bad.push(...(await auditBetween(rows, span, { before, after: after.ids, proven })));
          break;
        }
      }
      return bad;
    },
  };
}

function answeredSpans(blocks: readonly Span[], answered: ReadonlySet<number>): readonly Span[] {
  const came = seqnosOf(blocks).filter((seqno) => answered.has(seqno));
  return unionSpans(came.map((seqno) => ({ from: seqno, to: seqno })));
}

function provenIn({ spans, blocks }: ProvenRows, span: Span): ProvenRows {
  return {
    spans: intersectSpans(spans, [span]),
    blocks: blocks.filter(({ mcSeqno }) => mcSeqno >= span.from && mcSeqno <= span.to),
  };
}

const NO_STATE_REASON = 'expected the state of its shards, got none';

/** Errors of a source that has no state for a block, or a wrong one. */
const NO_STATE: ReadonlySet<string> = new Set(['not-indexed', 'short-list']);

/** Shard states at blocks of a span, and right before it, fetched when needed. */
class StatesWithin {
  signal = new AbortController().signal;
  private readonly options: LinkProofOptions;
  /** By masterchain block; undefined if the source does not have one. */
  private readonly states = new Map<number, ShardState | undefined>();

  constructor(options: LinkProofOptions) {
    this.options = options;
    const { span, ends } = options;
    this.states.set(span.to, { seqno: span.to, ids: ends.after });
  }

  /** The known states at blocks of a span. */
  within({ from, to }: Span): readonly ShardState[] {
    const known = [...this.states.values()].filter((state) => state !== undefined);
    return known.filter(({ seqno }) => seqno >= from && seqno <= to);
  }

  async at(seqno: number): Promise<ShardState | undefined> {
    if (!this.states.has(seqno)) this.states.set(seqno, await this.fetch(seqno));
    return this.states.get(seqno);
  }

  /**
   * Fetches the states right before blocks that are left out. Adds blocks without a state to `bad`.
   *
   * @returns true if any is new
   */
  async fetchBefore({ from }: Span, bad: Map<number, string>): Promise<boolean> {
    let hasNew = false;
    for (const next of bad.keys()) {
      const seqno = next - 1;
      if (seqno < from || bad.has(seqno)) continue;
      hasNew ||= !this.states.has(seqno);
      if ((await this.at(seqno)) === undefined) bad.set(seqno, NO_STATE_REASON);
    }
    return hasNew;
  }

  private async fetch(seqno: number): Promise<ShardState | undefined> {
    const { signal } = this;
    const { source, pipeline, ends, span } = this.options;
    if (signal.aborted) return undefined;
    try {
      const newest = await fetchShardState(source, seqno, pipeline, { signal });
      // At the beginning of the index, a state may name older blocks.
      const own = newest.filter(({ mcSeqno }) => ends.before !== undefined || mcSeqno >= span.from);
      return { seqno, ids: own.map(({ id }) => id) };
    } catch (error) {
      if (signal.aborted || (error instanceof SourceError && NO_STATE.has(error.code))) return undefined;
      throw error;
    }
  }
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

/** Adds masterchain blocks with wrong lists to `bad`: with duplicate, unlinked or missing blocks. */
async function blame(
  { missing, unlinked, twice }: LinkGaps,
  span: Span,
  states: StatesWithin,
  bad: Map<number, string>,
): Promise<void> {
  for (const { id, mcSeqno } of twice) bad.set(mcSeqno, `expected block ${id} once, got it twice`);
  for (const { id, mcSeqno, prev } of unlinked) {
    const got = prev.map((ref) => ref.id).join(' and ') || 'no link';
    bad.set(mcSeqno, `expected block ${id} to link to the one before it, got ${got}`);
  }
  const absent = new Set(missing.flatMap(({ id }) => masterSeqnoOf(id) ?? []));
  for (const { id, seenFrom } of missing) {
    const own = masterSeqnoOf(id);
    const isOwn = own !== undefined && own >= span.from && own <= span.to;
    const seqno = isOwn ? own : await listedWith(id, seenFrom, absent, span, states);
    bad.set(seqno, `expected block ${id} that others refer to, got none`);
  }
}

/** The masterchain block whose list should have a block: the first whose state names it, or one without a list. */
async function listedWith(
  id: string,
  seenFrom: number,
  absent: ReadonlySet<number>,
  { from }: Span,
  states: StatesWithin,
): Promise<number> {
  for (let seqno = seenFrom; seqno > from; seqno--) {
    if (absent.has(seqno) || (await states.at(seqno - 1))?.ids.includes(id) !== true) return seqno;
  }
  return from;
}

/** Seqno of a masterchain block; undefined for others. */
function masterSeqnoOf(id: string): number | undefined {
  return id.startsWith('-1:') ? Number(id.split(':')[2]) : undefined;
}

async function findBlock(
  source: Source,
  id: string,
  pipeline: string,
  signal: AbortSignal,
): Promise<NamedHeader | undefined> {
  const [workchain = '', shard = '', seqno = ''] = id.split(':');
  const query = [
    ['workchain', workchain],
    ['shard', shardHex(shard)],
    ['seqno', seqno],
    ['limit', '10'],
  ] as const;
  return source.fetch(
    { path: '/blocks', query, label: `${pipeline} ${id}` },
    ({ body, request }) => parseHeaders(body, request).find((header) => header.id === id),
    { signal },
  );
}
