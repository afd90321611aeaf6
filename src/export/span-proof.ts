import type { CommittedBlocks, LinkEnds, LinkGaps, MissingBlock, ShardState } from '../audit/header-links.ts';
import type { ProvenRows } from '../audit/proven-rows.ts';
import type { BadBlock } from '../audit/reconcile.ts';
import { type Header, type NamedHeader, parseHeaders } from '../chain/headers.ts';
import { fetchShardState } from '../chain/index-ends.ts';
import { type AuditError, SourceError } from '../core/errors.ts';
import { shardHex } from '../core/format.ts';
import { intersectSpans, leastWhere, type Span, seqnosOf, unionSpans } from '../core/span.ts';
import type { SourceResponse } from '../http/request.ts';
import { RetryableFailure } from '../http/retryable-failure.ts';
import type { Source } from '../http/source.ts';
import { type CommittedHeaders, OTHER_HEADERS } from './committed-headers.ts';
import type { HeaderEnds } from './shard-states.ts';
import type { ProvableRows } from './span-walk.ts';

/** Sum of the transaction counts of some headers. */
export function txCountOf(headers: readonly Header[]): number {
  return headers.reduce((sum, header) => sum + header.txCount, 0);
}

export interface LinkProofOptions {
  /** The span, between shard states that agree with committed headers. */
  readonly known: HeaderEnds;
  /** First block of the index. */
  readonly first: number;
  readonly source: Source;
  readonly pipeline: string;
  readonly committed: Pick<CommittedHeaders, 'contradictionUntil' | 'contradictionAfter'>;
  /** Committed transactions of the span. */
  readonly proven: ProvenRows | undefined;
  /** Committed headers between the blocks of the span that are missing. */
  readonly holes: CommittedBlocks | undefined;
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
  const { first, source, pipeline, committed, holes } = options;
  const { span: whole, before: beforeAll } = options.known;
  const states = new StatesWithin(options);

  /** Missing blocks of a span that only the first blocks of the index reference. */
  const unlisted = async ({ older }: LinkGaps, signal: AbortSignal): Promise<LinkGaps['missing']> => {
    const found: MissingBlock[] = [];
    for (const { id, seenFrom } of older) {
      const header = await findBlock(source, id, pipeline, signal);
      if (header !== undefined && header.mcSeqno >= first) found.push({ id, seenFrom });
    }
    return found;
  };

  const auditBetween = async (
    rows: Rows,
    span: Span,
    from: Omit<LinkEnds, 'after' | 'within'>,
  ): Promise<readonly BadBlock[]> => {
    const ends = { ...from, after: idsOf((await states.at(span.to)) ?? []) };
    for (;;) {
      const known = states.count;
      const { contradicted, uncommitted, ...gaps } = await rows.links(span, { ...ends, within: states.within(span) });
      const bad = new Map(contradicted.map(({ mcSeqno, reason }) => [mcSeqno, reason]));
      const missing = [...gaps.missing, ...(await unlisted(gaps, rows.signal))];
      await blame({ ...gaps, missing }, span, states, bad);
      await states.fetchBefore(span, bad);
      if (states.count > known) continue;
      // Must come last: the state at a hole explains a chain that ends right below it.
      for (const { id, mcSeqno } of gaps.stray) bad.set(mcSeqno, `expected linked blocks only, got ${id}`);
      await states.fetchBefore(span, bad);
      if (states.count > known) continue;
      for (const { id, mcSeqno } of uncommitted) {
        bad.set(mcSeqno, `expected block ${id} in the committed headers of ${mcSeqno}, got none`);
      }
      blameNext(bad, from.committed);
      return [...bad].map(([seqno, reason]) => ({ seqno, reason }));
    }
  };

  /** Why blocks that were requested by themselves cannot be proven; none if their states agree with committed headers. */
  const contradictionOf = async ({ from, to }: Span, before: State | undefined, after: State) =>
    (before === undefined ? undefined : await committed.contradictionUntil(from - 1, before)) ??
    (await committed.contradictionAfter(to, after));

  return {
    see(seqno, { body, request }) {
      requireMasterBlock(parseHeaders(body, request), seqno, pipeline);
    },
    audit(rows) {
      states.signal = rows.signal;
      return auditBetween(rows, whole, { before: beforeAll, proven: options.proven, committed: holes });
    },
    async auditAlone(rows, blocks) {
      states.signal = rows.signal;
      const bad: BadBlock[] = [];
      for (const { from, to } of answeredSpans(blocks, rows.answered)) {
        for (let last = to; last >= from; last--) {
          const before = from === whole.from ? beforeAll : await states.at(from - 1);
          const after = await states.at(last);
          if (after === undefined || (before === undefined && from > whole.from)) {
            bad.push({ seqno: last, reason: NO_STATE_REASON });
            continue;
          }
          const span = { from, to: last };
          const contradiction = await contradictionOf(span, before, after);
          if (contradiction !== undefined) {
            bad.push(
              ...seqnosOf([span]).map((seqno) => ({ seqno, reason: reasonIn(contradiction), code: OTHER_HEADERS })),
            );
            break;
          }
          const proven = options.proven && provenIn(options.proven, span);
          bad.push(...(await auditBetween(rows, span, { before, proven })));
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

/** What an error expected, without the block that it names. */
function reasonIn({ message }: AuditError): string {
  return message.slice(message.indexOf('expected '));
}

/** Adds the blocks after committed ones that the source has other headers of, to be proven beside those that are committed. */
function blameNext(bad: Map<number, string>, committed: CommittedBlocks | undefined): void {
  for (const { from, to } of committed?.spans ?? []) {
    const reason = [...bad].find(([seqno]) => seqno >= from && seqno <= to)?.[1];
    if (reason !== undefined && !bad.has(to + 1)) bad.set(to + 1, reason);
  }
}

type State = readonly NamedHeader[];

function idsOf(state: State): readonly string[] {
  return state.map(({ id }) => id);
}

const NO_STATE_REASON = 'expected the state of its shards, got none';

/** Errors of a source that has no state for a block, or a wrong one. */
const NO_STATE: ReadonlySet<string> = new Set(['not-indexed', 'short-list']);

/** Shard states at blocks of a span, and right before it, fetched when needed. */
class StatesWithin {
  signal = new AbortController().signal;
  private readonly options: LinkProofOptions;
  /** By masterchain block; undefined if the source does not have one. */
  private readonly states = new Map<number, State | undefined>();

  constructor(options: LinkProofOptions) {
    this.options = options;
    const { span, after } = options.known;
    this.states.set(span.to, this.ownOf(after));
  }

  /** At the beginning of the index, a state may name older blocks. */
  private ownOf(state: State): State {
    const { before, span } = this.options.known;
    return before === undefined ? state.filter(({ mcSeqno }) => mcSeqno >= span.from) : state;
  }

  /** The known states at blocks of a span. */
  within({ from, to }: Span): readonly ShardState[] {
    return [...this.states].flatMap(([seqno, state]) =>
      state === undefined || seqno < from || seqno > to ? [] : [{ seqno, ids: idsOf(state) }],
    );
  }

  /** True if the state at a block names another one; false also if there is no state. */
  async names(seqno: number, id: string): Promise<boolean> {
    return (await this.at(seqno))?.some((block) => block.id === id) === true;
  }

  async at(seqno: number): Promise<State | undefined> {
    if (!this.states.has(seqno)) this.states.set(seqno, await this.fetch(seqno));
    return this.states.get(seqno);
  }

  /** Number of states so far: as long as it grows, they show more of what is missing. */
  get count(): number {
    return this.states.size;
  }

  /** Fetches the states right before blocks that are left out. Adds blocks without a state to `bad`. */
  async fetchBefore({ from }: Span, bad: Map<number, string>): Promise<void> {
    for (const next of bad.keys()) {
      const seqno = next - 1;
      if (seqno < from || bad.has(seqno)) continue;
      if ((await this.at(seqno)) === undefined) bad.set(seqno, NO_STATE_REASON);
    }
  }

  private async fetch(seqno: number): Promise<State | undefined> {
    const { signal } = this;
    const { source, pipeline, first } = this.options;
    if (signal.aborted) return undefined;
    try {
      return this.ownOf(await fetchShardState(source, seqno, pipeline, { signal, first }));
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

/** Adds masterchain blocks with wrong lists to `bad`: with duplicate, unlinked, misplaced, disordered or missing blocks. */
async function blame(
  { missing, ended, unlinked, misplaced, disordered, twice }: LinkGaps,
  span: Span,
  states: StatesWithin,
  bad: Map<number, string>,
): Promise<void> {
  for (const { id, mcSeqno } of twice) bad.set(mcSeqno, `expected block ${id} once, got it twice`);
  for (const { id, mcSeqno, prev } of unlinked) {
    const got = prev.map((ref) => ref.id).join(' and ') || 'no link';
    bad.set(mcSeqno, `expected block ${id} to link to the one before it, got ${got}`);
  }
  for (const { id, mcSeqno } of misplaced) bad.set(mcSeqno, `expected block ${id} in its own list, got it here`);
  const absent = missing.flatMap(({ id }) => masterSeqnoOf(id) ?? []);
  for (const { block, prev, what, seenFrom } of disordered) {
    const reason = `expected no ${what} of block ${block.id} before that of ${prev.id}, got an earlier one`;
    const places = [block.mcSeqno, prev.mcSeqno];
    if (what === 'masterchain block') {
      places.push(await listedWith(block.id, seenFrom, absent, span, states));
      places.push(await listedWith(prev.id, Math.max(span.from, block.mcSeqno), absent, span, states));
    }
    for (const seqno of places) if (seqno >= span.from && seqno <= span.to) bad.set(seqno, reason);
  }
  for (const { id, seenFrom } of missing) {
    const own = masterSeqnoOf(id);
    const isOwn = own !== undefined && own >= span.from && own <= span.to;
    const seqno = isOwn ? own : await listedWith(id, seenFrom, absent, span, states);
    bad.set(seqno, `expected block ${id} that others refer to, got none`);
  }
  for (const { id } of ended) {
    const last = await leastWhere(span, async (seqno) => !(await states.names(seqno, id)));
    bad.set(last, `expected a block after ${id}, got none`);
  }
}

/** The masterchain block whose list should have a block: the first whose state names it, or one without a list. */
async function listedWith(
  id: string,
  seenFrom: number,
  absent: readonly number[],
  { from }: Span,
  states: StatesWithin,
): Promise<number> {
  const least = absent.reduce((most, seqno) => (seqno <= seenFrom ? Math.max(most, seqno) : most), from);
  // States name a block until those of its shard go on. It is usually listed right before it is referenced.
  for (let [low, step] = [seenFrom, 1]; low > least; step *= 2) {
    const next = Math.max(least, low - step);
    if (!(await states.names(next, id))) {
      return leastWhere({ from: next + 1, to: low }, (seqno) => states.names(seqno, id));
    }
    low = next;
  }
  return least;
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
