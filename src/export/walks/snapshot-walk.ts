import { lackingRows, type RequestedRows } from '../../audit/page-audit.ts';
import { fetchShardState } from '../../chain/index-ends.ts';
import { fetchEnds } from '../../chain/index-head.ts';
import { TonlakeError } from '../../core/errors.ts';
import { hullOf, type Span } from '../../core/span.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { ParentsDef, SnapshotWalk } from '../../declare/walk.ts';
import type { Given } from '../../decode/table-rows.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import { type LedgerEntry, PARTIAL } from '../../warehouse/index.ts';
import { boundOf } from '../lookup-keys.ts';
import { listRequest, type Parameters } from '../page-request.ts';
import { widenedContext } from '../rewrite-entry.ts';
import { leastEnd } from '../safe-horizon.ts';
import type { Round, SpanWalk } from '../span-walk.ts';
import { lastSeen, type WalkContext } from '../walk-context.ts';
import type { WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';

/** A page of the list, or of the list of one parent. */
interface ListRequest extends WalkRequest {
  readonly filter: Parameters;
  readonly offset: number;
  readonly limit: number;
  /** True for a page of the unfiltered list, which has the rows without a parent. */
  readonly isOrphans: boolean;
  /** True for the tail of a list that was read to its end before. */
  readonly isTail?: boolean;
  /** Rows of the page before, if it was short. */
  readonly before?: number | undefined;
}

type Context = WalkContext<PipelineOf<SnapshotWalk>>;

/** Reads the current state of a changing list, with the time of the reading. */
export const snapshotWalk: WalkKind<SnapshotWalk> = {
  plan: (context) => [() => snapshotSpan(context)],
  widen: (context) => replacedEntries(context).reduce(widenedContext, context).pipeline,
};

/** Earlier readings that a new one replaces. */
function replacedEntries({ sink, history, from, pipeline: { name } }: Context): readonly LedgerEntry[] {
  if (history || from !== undefined) return [];
  return sink.ledger().filter(({ pipeline, scope }) => pipeline === name && (scope === undefined || scope === PARTIAL));
}

function snapshotSpan(context: Context): SpanWalk<ListRequest> {
  const { asked, pipeline, source, ends, from } = context;
  const { limit, most = Number.POSITIVE_INFINITY, parents, newer } = pipeline.walk;
  const span = hullOf(asked) ?? { from: 0, to: 0 };
  const older = replacedEntries(context);
  // With a history, every reading stays.
  const seen = context.history || from !== undefined ? undefined : lastSeen(context);
  const given: Given = { read_at: BigInt(Math.round(context.effects.now())) * 1000n, as_of: BigInt(ends.last) };
  const key = (pipeline.tables[0]?.key ?? []).filter((name) => name !== '_read_at');
  const hasOrphans = parents?.hasOrphans === true && from === undefined;
  /** Rows of the list without a filter. */
  let length = 0;
  const whole = new WholeLists(pipeline.name);
  let { last } = ends;

  const requestAt = (filter: Parameters, offset: number, isOrphans: boolean, isContinued = false): ListRequest => {
    const size = Math.min(limit, most - offset);
    const list = listOf(filter);
    // A list of the top few changes between readings. The list of all rows includes those of the parents' lists.
    const counted = { list: hasOrphans ? '' : list, offset, full: filter.length === 0 ? undefined : size };
    const label = [pipeline.name, ...filter.map(([, value]) => value), `from ${offset}`].join(' ');
    return {
      filter,
      offset,
      limit: size,
      isOrphans,
      http: listRequest(pipeline, { where: filter, limit: size, label }, offset),
      page: {
        given,
        only: parents === undefined ? [] : onlyOf(parents, filter),
        list: { list, isContinued, counted: Number.isFinite(most) ? undefined : counted },
      },
    };
  };
  /** The unfiltered list. Rows added during the reading may have come before its end, so its tail is read again. */
  async function* wholeList(isOrphans: boolean): AsyncGenerator<Round<ListRequest>> {
    length = 0;
    yield roundOf([requestAt([], 0, isOrphans)]);
    if (Number.isFinite(most) || whole.failure !== undefined) return;
    if ((await fetchEnds(source)).last <= ends.last) return;
    yield roundOf([{ ...requestAt([], Math.max(0, length - limit), isOrphans), isTail: true }]);
  }
  return {
    span,
    isReading: true,
    rows: { block: undefined, audit: { kind: 'none' }, copies: { key, keep: 'newest', column: newer } },
    async *plan() {
      if (parents === undefined) return yield* wholeList(false);
      const filters = await filtersOf(context, parents, span);
      yield roundOf(filters.map((filter) => requestAt(filter, 0, false)));
      if (hasOrphans) yield* wholeList(true);
    },
    next(request, { records, distinct }) {
      const { filter, offset, limit: size, isOrphans, isTail = false } = request;
      const isShort = records < size;
      const after = offset + (isShort ? records : limit);
      if (filter.length === 0) length = Math.max(length, after);
      const isOver = filter.length > 0 || isTail ? isShort : isListEnd(request, records);
      if (isOver && (filter.length === 0 || !hasOrphans)) {
        return whole.isAgain(listOf(filter), offset + records, distinct) ? [requestAt(filter, 0, isOrphans)] : [];
      }
      if (isOver || after >= most) return [];
      return [{ ...requestAt(filter, after, isOrphans, true), isTail, before: isShort ? records : undefined }];
    },
    /** A long unfiltered list is slow at its end and may fail there; rows read before that stay. */
    failed({ isOrphans }, error) {
      if (!isOrphans || !(error instanceof TonlakeError) || error.code !== 'server-error') return undefined;
      whole.failure = error;
      return [];
    },
    async entry(part, { refused, isStopped }) {
      if (isStopped) return undefined;
      ({ last } = await fetchEnds(source));
      // An incomplete reading replaces others like it, not a complete one.
      const replaced = older.filter(({ scope }) => whole.failure === undefined || scope === PARTIAL);
      return {
        span: hullOf([part, ...replaced.map((entry) => entry.span)]) ?? part,
        asOf: { from: ends.last, to: last },
        scope: from ?? (refused > 0 || whole.failure !== undefined ? PARTIAL : undefined),
        proof: 'none',
        supersedes: replaced.map(({ id }) => id),
        seen,
      };
    },
    async onCommitted({ isStopped, refused }) {
      if (isStopped) return;
      await reportSkew(context, given, last);
      if (refused === 0 && whole.failure === undefined) reportFewer(context, older, span);
      if (whole.failure === undefined) return;
      const { code, message } = whole.failure;
      context.report({ event: 'problem', pipeline: pipeline.name, ...span, code, message });
    },
  };
}

/**
 * True at the end of a whole list. A source may answer with fewer rows than it has, so a short page is followed by a request for more: the
 * list ends with a page of no rows, or of fewer than the short one before.
 */
function isListEnd({ limit, before = 0 }: ListRequest, records: number): boolean {
  return records === 0 || (records < limit && records < before);
}

/** Requires that rows of a list have its parent in the column of the parameter. */
function onlyOf({ parameter, column, others = {} }: ParentsDef, filter: Parameters): readonly RequestedRows[] {
  return filter.map(([name, value]) => {
    const own = name === parameter ? column : (others[name] ?? column);
    return { kind: 'keys', columns: [own], values: [value] };
  });
}

/** Filters for the lists of the declared parents, or of the parents of the query `from`, whose column is named like the parameter. */
async function filtersOf(
  { sink, from }: Context,
  { query, parameter }: ParentsDef,
  span: Span,
): Promise<readonly Parameters[]> {
  const wanted = from ?? query;
  const { rows, columns } = await sink.query(wanted, boundOf(wanted, span));
  const found = rows.filter(([parent]) => parent !== null).map(([parent]) => String(parent));
  const name = from === undefined ? parameter : (columns[0]?.name ?? '');
  return [...new Set(found)].sort().map((parent) => [[name, parent]]);
}

/** Reports how many rows of a reading changed after the block at which it began. */
async function reportSkew({ sink, source, pipeline, report, ends }: Context, given: Given, to: number): Promise<void> {
  const { newer } = pipeline.walk;
  const from = ends.last;
  if (newer === undefined || from === to || !sink.isQueryable) return;
  const shards = await fetchShardState(source, from, `${pipeline.name} ${from}`);
  const horizon = leastEnd(shards);
  const { rows } = await sink.query(
    `SELECT count(*) FROM ${quoteName(pipeline.tables[0]?.name ?? '')}
     WHERE _read_at = make_timestamp($read_at::BIGINT) AND ${quoteName(newer)} >= $horizon`,
    { read_at: given['read_at'], horizon },
  );
  report({ event: 'skew', pipeline: pipeline.name, from, to, rows: Number(rows[0]?.[0] ?? 0) });
}

/** Reports that a reading has fewer rows than the replaced ones, unless the list is limited to the top few. */
function reportFewer({ sink, pipeline, report }: Context, older: readonly LedgerEntry[], span: Span): void {
  const { name, tables, walk } = pipeline;
  const rowsOf = (entries: readonly LedgerEntry[]): number =>
    entries
      .filter(({ pipeline: own, scope }) => own === name && scope === undefined)
      .reduce((sum, entry) => sum + (entry.tables[tables[0]?.name ?? '']?.rows ?? 0), 0);
  const [rows, before] = [rowsOf(sink.ledger()), rowsOf(older)];
  if (rows < before && walk.most === undefined) report({ event: 'fewer-rows', pipeline: name, ...span, rows, before });
}

/** The name of a list; empty for the list of all rows. */
function listOf(filter: Parameters): string {
  return filter.map(([, value]) => value).join();
}

/**
 * Detects lists with duplicate rows, or fewer rows than their pages: a page was sent in place of another, or ended the list too early. Rows
 * inserted before a page that was already read have the same effect. Such a list is read again, once.
 */
class WholeLists {
  /** Why a list could not be read completely. */
  failure: TonlakeError | undefined;
  private readonly pipeline: string;
  private readonly again = new Set<string>();

  constructor(pipeline: string) {
    this.pipeline = pipeline;
  }

  /** True if a list must be read again. @param distinct different rows of all its readings */
  isAgain(list: string, rows: number, distinct = rows): boolean {
    if (distinct === rows) return false;
    if (!this.again.has(list)) {
      this.again.add(list);
      return true;
    }
    this.failure ??= lackingRows(`${this.pipeline} ${list}`.trim(), rows, distinct);
    return false;
  }
}

function roundOf(requests: readonly ListRequest[]): Round<ListRequest> {
  return { requests, count: requests.length };
}
