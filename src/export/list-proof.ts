import { comparisonOf, type FaultKind, type ListComparison } from '../audit/list-faults.ts';
import type { BadBlock } from '../audit/reconcile.ts';
import { intersectSpans, type Span, subtractSpans } from '../core/span.ts';
import type { RoleName } from '../declare/roles.ts';
import { inSpans } from '../sql/span-condition.ts';
import { doneSpans, type StagedSpan, selectStaged } from '../warehouse/index.ts';
import { lacks } from '../warehouse/query/coverage.ts';
import { blockBefore } from './block-before.ts';
import { type Fault, fetchVerified, itemRequests } from './item-requests.ts';
import type { LtWindow } from './lt-windows.ts';
import type { ProvableRows } from './span-walk.ts';
import type { WalkContext } from './walk-context.ts';

/** Masterchain blocks before a span whose transactions are read as well; a trace that began earlier is requested by its id. */
const LOOK_BACK = 2_000;
/** Rounds of requests for missing records. Each can reveal further ones. */
const ROUNDS = 2;

/** Code of the error for rows that contradict the transactions. */
const UNPROVEN = 'unproven';

/** Without `outdated`: the source has already sent the transactions, so such rows are wrong. */
const KINDS: readonly FaultKind[] = ['missing', 'unverified', 'unsure', 'wrong'];

/** Compares the rows of a list with the transactions in the warehouse, and requests missing ones again. */
export class ListProof {
  private readonly context: WalkContext;
  private readonly comparison: ListComparison | undefined;

  constructor(context: WalkContext) {
    this.context = context;
    this.comparison = comparisonOf(context.pipeline);
  }

  /** Blocks for which the warehouse has everything that the list is compared with. */
  private comparable(): readonly Span[] {
    const { sink, registry } = this.context;
    const { comparison } = this;
    if (comparison === undefined) return [];
    const ledger = sink.ledger();
    const ofTables = comparison.with.map((role) => {
      const { pipeline, table } = registry.playing(role);
      const columns = new Set(comparison.columns[role]);
      return doneSpans(ledger, pipeline.name, (without) => lacks(without, table.name, columns).length === 0);
    });
    return [doneSpans(ledger, registry.playing('headers').pipeline.name), ...ofTables].reduce(intersectSpans);
  }

  /** Cuts spans at the ends of the comparable blocks. */
  cut(spans: readonly Span[]): readonly Span[] {
    const comparable = this.comparable();
    return spans
      .flatMap((span) => [...intersectSpans([span], comparable), ...subtractSpans([span], comparable)])
      .sort((a, b) => a.from - b.from);
  }

  /** True if all rows of a span can be compared. */
  isComparable(span: Span): boolean {
    return this.runOf(span) !== undefined;
  }

  /** The comparable blocks around a span. */
  private runOf(span: Span): Span | undefined {
    return this.comparable().find(({ from, to }) => from <= span.from && to >= span.to);
  }

  /** Number of traces in the transactions of a span; undefined if the list is not compared with traces. */
  async traces({ from, to }: Span): Promise<number | undefined> {
    if (this.comparison?.columns.counted?.includes('trace_id') !== true) return undefined;
    const { sink } = this.context;
    const counted = sink.rows('counted', [{ from, to }]);
    const select = `SELECT count(DISTINCT trace_id) FROM ${counted} WHERE mc_block_seqno BETWEEN $from AND $to`;
    return Number((await sink.query(select, { from, to })).rows[0]?.[0]);
  }

  /** The parts of ranges of logical time before the first comparable block: no transaction proves their rows. */
  async edgesOf(parts: readonly { readonly span: Span; readonly range: LtWindow }[]): Promise<readonly LtWindow[]> {
    const edges: LtWindow[] = [];
    for (const { span, range } of parts) {
      const run = this.runOf(span);
      if (run === undefined || range.from > range.to) continue;
      const low = await this.lowOf(run);
      if (low > range.from) edges.push({ from: range.from, to: low <= range.to ? low - 1n : range.to });
    }
    return edges;
  }

  /**
   * Compares the good parts of a span whose rows have blocks; requests and adds missing rows.
   *
   * @param together blocks requested in a common window. Only a block's own request shows that the index has it, so those that lack rows are bad
   */
  async compareBlocks(
    rows: ProvableRows,
    parts: readonly Span[],
    together?: ReadonlySet<number>,
  ): Promise<readonly BadBlock[]> {
    const bad: BadBlock[] = [];
    for (const part of parts) {
      const faults = await this.settle(rows, part, { together });
      for (const seqno of new Set(faults.map((fault) => fault.seqno))) {
        const lacking = faults.filter((fault) => fault.seqno === seqno);
        bad.push({ seqno, reason: reasonOf(lacking), code: UNPROVEN });
      }
    }
    return bad.sort((a, b) => a.seqno - b.seqno);
  }

  /** Compares all of a span whose rows belong to a range of logical time. */
  async compareSpan(rows: ProvableRows, span: Span, range: LtWindow): Promise<readonly BadBlock[]> {
    const faults = await this.settle(rows, span, { range });
    return faults.length === 0 ? [] : [{ seqno: span.from, reason: reasonOf(faults), code: UNPROVEN }];
  }

  /** @returns what is still missing or wrong */
  private async settle(
    rows: ProvableRows,
    part: Span,
    { range, together }: { readonly range?: LtWindow; readonly together?: ReadonlySet<number> | undefined },
  ): Promise<readonly Fault[]> {
    const run = this.runOf(part) ?? part;
    const requested = new Set<string>();
    for (let round = 1; ; round++) {
      const own = await rows.stage(part);
      try {
        const faults = await this.compare(own.staged, part, run, range);
        const alone = faults.filter(({ seqno }) => together?.has(seqno) === true);
        if (alone.length > 0) return alone;
        const open = faults.filter(({ kind, item, lt }) => kind !== 'wrong' && !requested.has(`${item} ${lt}`));
        for (const { item, lt } of open) requested.add(`${item} ${lt}`);
        const isLast = open.length === 0 || round > ROUNDS;
        const found = isLast ? 0 : await rows.fetch(itemRequests(this.context, open));
        if (found === 0) return await this.certain(faults, rows.signal);
      } finally {
        await own.discard();
      }
    }
  }

  /** Drops doubtful faults: asks the index whether it has verified the contracts that no row names. */
  private async certain(faults: readonly Fault[], signal: AbortSignal): Promise<readonly Fault[]> {
    const unknown = faults.filter(({ kind }) => kind === 'unverified').map(({ item }) => item);
    const verified = await fetchVerified(this.context, [...new Set(unknown)], signal);
    return faults.filter(({ kind, item }) => (kind === 'unverified' ? verified.has(item) : kind !== 'unsure'));
  }

  private async compare(staged: StagedSpan, span: Span, run: Span, range?: LtWindow): Promise<readonly Fault[]> {
    const { pipeline, sink } = this.context;
    const [table] = pipeline.tables;
    if (this.comparison === undefined || table === undefined) return [];
    const own = selectStaged(table, staged);
    const start = await this.lowOf(run);
    const low = range !== undefined && range.from > start ? range.from : start;
    const high = range === undefined ? 0n : range.to + 1n;
    const from = range === undefined ? span.from - LOOK_BACK : await this.firstBlockAt(low, { ...run, to: span.from });
    const stored = { from: Math.max(run.from, from), to: span.to };
    const judged = `SELECT ${span.from} AS run_from, ${span.to} AS run_to, ${stored.from} AS stored_from,
      ${range?.from ?? low}::BIGINT AS first, ${low}::BIGINT AS low, ${high}::BIGINT AS high`;
    const faults = this.comparison.faults({
      own,
      judged,
      near: (role) => this.rowsOf(role, stored),
      since: (role) => this.rowsOf(role, { from: stored.from, to: Number.MAX_SAFE_INTEGER }),
    });
    const { rows } = await sink.query(
      `SELECT seqno::INTEGER, item, lt::BIGINT, kind, expected::VARCHAR, got::VARCHAR FROM (${faults}) ORDER BY ALL`,
    );
    return rows.map(([seqno, item, lt, kind, expected, got]) => ({
      seqno: Math.min(span.to, Math.max(span.from, Number(seqno))),
      item: String(item),
      lt: lt === null ? undefined : BigInt(String(lt)),
      kind: KINDS.find((each) => each === kind) ?? 'wrong',
      reason: `expected ${String(expected)}, got ${String(got)}`,
    }));
  }

  /** SQL after FROM: the rows of some blocks, which are constants in it, so that files and row groups of other blocks are not read. */
  private rowsOf(role: RoleName, blocks: Span): string {
    const { sink, registry } = this.context;
    const { pipeline, table } = registry.playing(role);
    return `(SELECT * FROM ${sink.rows(role, [blocks])} WHERE ${inSpans(pipeline, table, [blocks])})`;
  }

  /** Start of the first of some masterchain blocks: rows of blocks before are earlier. */
  private async lowOf({ from }: Span): Promise<bigint> {
    const headers = (await this.context.sink.headers({ from, to: from })).get(from) ?? [];
    return headers.find(({ workchain }) => workchain === -1)?.startLt ?? 0n;
  }

  /** The first of some masterchain blocks that can include a message of a logical time. */
  private async firstBlockAt(lt: bigint, within: Span): Promise<number> {
    return ((await blockBefore(this.context.sink, lt, within)) ?? within.from - 1) + 1;
  }
}

function reasonOf(faults: readonly Fault[]): string {
  const more = faults.length > 1 ? `, and ${faults.length - 1} more like it` : '';
  return `${faults[0]?.reason}${more}`;
}
