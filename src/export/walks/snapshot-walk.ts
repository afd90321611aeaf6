import { fetchEnds, fetchShardState } from '../../chain/index-ends.ts';
import { TonlakeError } from '../../core/errors.ts';
import { greatest, least, type Span } from '../../core/span.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { ParentsDef, SnapshotWalk } from '../../declare/walk.ts';
import type { Given } from '../../decode/table-rows.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import { type LedgerEntry, PARTIAL } from '../../warehouse/index.ts';
import { boundOf } from '../lookup-keys.ts';
import { fixedQuery } from '../page-request.ts';
import { quoteSnapshot } from '../quote/quote-snapshot.ts';
import type { PageReport } from '../span-loader.ts';
import type { EntryTerms, Reading, Round, SpanWalk } from '../span-walk.ts';
import type { WalkContext } from '../walk-context.ts';
import type { WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';
import { widenedContext } from '../widen-entry.ts';

type Filter = readonly (readonly [string, string])[];

/** A page of the list, or of that of one parent. */
interface ListRequest extends WalkRequest {
  readonly filter: Filter;
  readonly offset: number;
  readonly limit: number;
  /** Of the list of everything, read for rows without a parent. */
  readonly isOrphans: boolean;
}

type Context = WalkContext<PipelineOf<SnapshotWalk>>;

/** Reads a list that changes as it is now, with the time of the reading. */
export const snapshotWalk: WalkKind<SnapshotWalk> = {
  plan: (context) => [() => new SnapshotSpan(context)],
  quote: (quoting, missing) => quoteSnapshot(quoting, missing, (context) => [() => new SnapshotSpan(context)]),
  widen: (context) => replacedEntries(context).reduce(widenedContext, context).pipeline,
};

/** Earlier readings that a new one replaces. */
function replacedEntries({ sink, history, from, pipeline: { name } }: Context): readonly LedgerEntry[] {
  if (history || from !== undefined) return [];
  return sink.ledger().filter(({ pipeline, scope }) => pipeline === name && (scope === undefined || scope === PARTIAL));
}

class SnapshotSpan implements SpanWalk<ListRequest> {
  readonly unit = 'reading';
  readonly span: Span;
  readonly rows: SpanWalk['rows'];
  private readonly context: Context;
  private readonly walk: SnapshotWalk;
  private readonly older: readonly LedgerEntry[];
  private readonly given: Given;
  /** Rows of the list without a filter. */
  private length = 0;
  /** Why the list of everything could not be read to its end. */
  private failure: TonlakeError | undefined;
  private last: number;

  constructor(context: Context) {
    const { asked, pipeline } = context;
    const { walk } = pipeline;
    const [table] = pipeline.tables;
    const key = (table?.key ?? []).filter((name) => name !== '_read_at');
    this.context = context;
    this.walk = walk;
    this.span = { from: asked[0]?.from ?? 0, to: asked.at(-1)?.to ?? 0 };
    this.older = replacedEntries(context);
    this.last = context.ends.last;
    this.given = { read_at: BigInt(Math.round(context.effects.now())) * 1000n, as_of: BigInt(context.ends.last) };
    this.rows = { block: undefined, audit: { kind: 'none' }, copies: { key, keep: 'newest', column: walk.newer } };
  }

  async *plan(): AsyncGenerator<Round<ListRequest>> {
    const { parents } = this.walk;
    if (parents === undefined) yield* this.wholeList(false);
    else {
      yield await this.ofParents(parents);
      if (parents.hasOrphans === true && this.context.from === undefined) yield* this.wholeList(true);
    }
  }

  next(request: ListRequest, page: PageReport): readonly ListRequest[] {
    const { filter, offset, limit, isOrphans } = request;
    const { most = Number.POSITIVE_INFINITY } = this.walk;
    const after = offset + (page.records < limit ? page.records : this.walk.limit);
    if (filter.length === 0) this.length = Math.max(this.length, after);
    if (page.records < limit || after >= most) return [];
    return [this.request(filter, after, isOrphans)];
  }

  /** A large list of everything is slow at its end, and may not be had to its end: what was read of it stays. */
  failed({ isOrphans }: ListRequest, error: unknown): readonly ListRequest[] | undefined {
    if (!isOrphans || !(error instanceof TonlakeError) || error.code !== 'server-error') return undefined;
    this.failure = error;
    return [];
  }

  async entry(span: Span, { refused, isStopped }: Reading): Promise<EntryTerms | undefined> {
    if (isStopped) return undefined;
    const { ends, source, from } = this.context;
    this.last = (await fetchEnds(source)).last;
    // A reading that broke off takes the place of others like it, not of a whole one.
    const replaced = this.older.filter(({ scope }) => this.failure === undefined || scope === PARTIAL);
    const covered = [span, ...replaced.map((entry) => entry.span)];
    return {
      span: { from: least(covered.map((each) => each.from)), to: greatest(covered.map((each) => each.to)) },
      asOf: { from: ends.last, to: this.last },
      scope: from ?? (refused > 0 || this.failure !== undefined ? PARTIAL : undefined),
      proof: 'none',
      supersedes: replaced.map(({ id }) => id),
    };
  }

  async onCommitted({ isStopped }: Reading): Promise<void> {
    if (isStopped) return;
    await this.tellSkew();
    if (this.failure === undefined) return;
    const { code, message } = this.failure;
    this.context.report({ event: 'problem', pipeline: this.context.pipeline.name, ...this.span, code, message });
  }

  /** The list by itself. Rows that were added while it was read may have come before its end: its tail is read again. */
  private async *wholeList(isOrphans: boolean): AsyncGenerator<Round<ListRequest>> {
    const { context, walk } = this;
    this.length = 0;
    yield roundOf([this.request([], 0, isOrphans)]);
    if (walk.most !== undefined || this.failure !== undefined) return;
    const { last } = await fetchEnds(context.source);
    if (last > context.ends.last) {
      yield roundOf([this.request([], Math.max(0, this.length - walk.limit), isOrphans)]);
    }
  }

  /** The lists of the declared parents, or of those of another query, which names the parameter that they are asked by. */
  private async ofParents({ query, parameter }: ParentsDef): Promise<Round<ListRequest>> {
    const { sink, from } = this.context;
    const wanted = from ?? query;
    const { rows, columns } = await sink.query(wanted, boundOf(wanted, this.span));
    const found = rows.filter(([parent]) => parent !== null).map(([parent]) => String(parent));
    const name = from === undefined ? parameter : (columns[0]?.name ?? '');
    const parents = [...new Set(found)].sort();
    return roundOf(parents.map((parent) => this.request([[name, parent]], 0, false)));
  }

  private request(filter: Filter, offset: number, isOrphans: boolean): ListRequest {
    const { pipeline } = this.context;
    const { limit: page, most = Number.POSITIVE_INFINITY } = this.walk;
    const limit = Math.min(page, most - offset);
    const skip = offset === 0 ? [] : [['offset', String(offset)] as const];
    return {
      ...{ filter, offset, limit, isOrphans },
      ask: {
        path: pipeline.endpoint.replace(/^GET /, ''),
        query: [...filter, ['limit', String(limit)], ...skip, ...fixedQuery(pipeline)],
        label: `${pipeline.name} ${filter.map(([, value]) => `${value} `).join('')}from ${offset}`,
      },
      page: { given: this.given },
    };
  }

  /** Tells how many rows of the reading changed after the block that it is as of. */
  private async tellSkew(): Promise<void> {
    const { sink, source, pipeline, report, ends } = this.context;
    const { newer } = this.walk;
    const from = ends.last;
    if (newer === undefined || from === this.last || !sink.isKept) return;
    const shards = await fetchShardState(source, from, `${pipeline.name} ${from}`);
    const horizon = shards.reduce((lowest, { endLt }) => (endLt < lowest ? endLt : lowest), shards[0]?.endLt ?? 0n);
    const { rows } = await sink.query(
      `SELECT count(*) FROM ${quoteName(pipeline.tables[0]?.name ?? '')}
       WHERE _read_at = make_timestamp($read_at::BIGINT) AND ${quoteName(newer)} >= $horizon`,
      { read_at: this.given['read_at'], horizon },
    );
    report({ event: 'skew', pipeline: pipeline.name, from, to: this.last, rows: Number(rows[0]?.[0] ?? 0) });
  }
}

function roundOf(requests: readonly ListRequest[]): Round<ListRequest> {
  return { requests, count: requests.length };
}
