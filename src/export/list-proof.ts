import { comparisonOf, type FaultKind, type ListComparison } from '../audit/list-faults.ts';
import type { BadBlock } from '../audit/reconcile.ts';
import { WalkError } from '../core/errors.ts';
import { intersectSpans, type Span, subtractSpans } from '../core/span.ts';
import { doneSpans, type StagedSpan, selectStaged } from '../warehouse/index.ts';
import { lacks } from '../warehouse/query/left-out-gaps.ts';
import { type Fault, fetchVerified, itemRequests } from './item-requests.ts';
import type { LtWindow } from './lt-windows.ts';
import type { Comparison, ProvableRows } from './span-walk.ts';
import type { WalkContext } from './walk-context.ts';
import type { StagedRows } from './workers/loader-port.ts';

/** Masterchain blocks before a span whose transactions are looked at: a trace that began earlier is asked for by its id instead. */
const LOOK_BACK = 2_000;
/** How often what is missing is asked for by itself; what that brings can tell of more. */
const ROUNDS = 2;

/** Code of the error about rows that lack what transactions tell. */
const UNPROVEN = 'unproven';

const KINDS: readonly FaultKind[] = ['missing', 'unverified', 'unsure', 'wrong'];

/** Rows of a part of a span, staged, and what is still missing or wrong in them. */
interface Compared {
  readonly rows: StagedRows;
  readonly faults: readonly Fault[];
}

/** Compares the rows of a list with the transactions that the warehouse holds, and asks again for what is missing. */
export class ListProof {
  private readonly context: WalkContext;
  private readonly comparison: ListComparison | undefined;

  constructor(context: WalkContext) {
    this.context = context;
    this.comparison = comparisonOf(context.pipeline);
  }

  /** Blocks of which everything is held that the list is compared with. */
  private held(): readonly Span[] {
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

  /** Cuts spans where what they are compared with begins or ends. */
  cut(spans: readonly Span[]): readonly Span[] {
    const held = this.held();
    return spans
      .flatMap((span) => [...intersectSpans([span], held), ...subtractSpans([span], held)])
      .sort((a, b) => a.from - b.from);
  }

  /** Whether everything is held that the rows of a span are compared with. */
  isHeld(span: Span): boolean {
    return this.runOf(span) !== undefined;
  }

  /** The run of held blocks that a span lies in. */
  private runOf(span: Span): Span | undefined {
    return this.held().find(({ from, to }) => from <= span.from && to >= span.to);
  }

  /** Logical times of a window that lie before everything that is held: no transaction tells of their rows. */
  async edgeOf(span: Span, range: LtWindow): Promise<LtWindow | undefined> {
    const run = this.runOf(span);
    if (run === undefined) return undefined;
    const low = await this.lowOf(run);
    return low > range.from && range.from <= range.to
      ? { from: range.from, to: low <= range.to ? low - 1n : range.to }
      : undefined;
  }

  /** Compares sound parts of a span, whose rows tell their blocks; what is missing is asked for and added. */
  async compareBlocks(rows: ProvableRows, parts: readonly Span[]): Promise<Comparison> {
    const bad: BadBlock[] = [];
    const staged: StagedRows[] = [];
    for (const part of parts) {
      const { rows: own, faults } = await this.settle(rows, part).catch(async (error: unknown) => {
        for (const ready of staged) await ready.discard();
        throw error;
      });
      if (faults.length === 0) staged.push(own);
      else await own.discard();
      for (const seqno of new Set(faults.map((fault) => fault.seqno))) {
        const lacking = faults.filter((fault) => fault.seqno === seqno);
        bad.push({ seqno, reason: reasonOf(lacking), code: UNPROVEN });
      }
    }
    return { bad: bad.sort((a, b) => a.seqno - b.seqno), staged };
  }

  /** Compares a span as a whole, whose rows belong to a range of logical time. */
  async compareSpan(rows: ProvableRows, span: Span, range: LtWindow): Promise<Comparison> {
    const { rows: own, faults } = await this.settle(rows, span, range);
    if (faults.length === 0) return { bad: [], staged: [own] };
    await own.discard();
    return { bad: [{ seqno: span.from, reason: reasonOf(faults), code: UNPROVEN }], staged: [] };
  }

  private async settle(rows: ProvableRows, part: Span, range?: LtWindow): Promise<Compared> {
    const run = this.runOf(part) ?? part;
    const asked = new Set<string>();
    for (let round = 1; ; round++) {
      const [own] = await rows.stage([part]);
      if (own === undefined) throw new WalkError('walk: expected rows that are staged, got none', { code: 'no-stage' });
      try {
        const faults = await this.compare(own.staged, part, run, range);
        const open = faults.filter(({ kind, item, lt }) => kind !== 'wrong' && !asked.has(`${item} ${lt}`));
        for (const { item, lt } of open) asked.add(`${item} ${lt}`);
        const isLast = open.length === 0 || round > ROUNDS;
        const found = isLast ? 0 : await rows.ask(itemRequests(this.context, open));
        if (found === 0) return { rows: own, faults: await this.certain(faults) };
      } catch (error) {
        await own.discard();
        throw error;
      }
      await own.discard();
    }
  }

  /** Faults that are none of doubt: of contracts that no row names the index is asked whether it has verified them. */
  private async certain(faults: readonly Fault[]): Promise<readonly Fault[]> {
    const unknown = faults.filter(({ kind }) => kind === 'unverified').map(({ item }) => item);
    const verified = await fetchVerified(this.context, [...new Set(unknown)]);
    return faults.filter(({ kind, item }) => (kind === 'unverified' ? verified.has(item) : kind !== 'unsure'));
  }

  private async compare(staged: StagedSpan, span: Span, run: Span, range?: LtWindow): Promise<readonly Fault[]> {
    const { pipeline, sink } = this.context;
    const [table] = pipeline.tables;
    if (this.comparison === undefined || table === undefined) return [];
    const own = selectStaged(table, staged);
    const first = await this.lowOf(run);
    const low = range !== undefined && range.from > first ? range.from : first;
    const high = range === undefined ? 0n : range.to + 1n;
    const from = range === undefined ? span.from - LOOK_BACK : await this.firstBlockAt(low);
    const judged = `SELECT ${span.from} AS run_from, ${span.to} AS run_to, ${Math.max(run.from, from)} AS held_from,
      ${low}::BIGINT AS low, ${high}::BIGINT AS high`;
    const { rows } = await sink.query(
      `SELECT seqno::INTEGER, item, lt::BIGINT, kind, expected::VARCHAR, got::VARCHAR
       FROM (${this.comparison.faults({ own, judged })}) ORDER BY ALL`,
    );
    return rows.map(([seqno, item, lt, kind, expected, got]) => ({
      seqno: Math.min(span.to, Math.max(span.from, Number(seqno))),
      item: String(item),
      lt: lt === null ? undefined : BigInt(String(lt)),
      kind: KINDS.find((each) => each === kind) ?? 'wrong',
      reason: `expected ${String(expected)}, got ${String(got)}`,
    }));
  }

  /** Start of the first masterchain block of a run: what belongs to blocks before it is earlier. */
  private async lowOf({ from }: Span): Promise<bigint> {
    const { rows } = await this.context.sink.query(
      'SELECT min(start_lt) FROM _headers WHERE workchain = -1 AND mc_block_seqno = $from',
      { from },
    );
    return BigInt(String(rows[0]?.[0] ?? 0));
  }

  /** The first masterchain block that can include a message of a logical time. */
  private async firstBlockAt(lt: bigint): Promise<number> {
    const { rows } = await this.context.sink.query(
      'SELECT min(mc_block_seqno) FROM _headers WHERE workchain = -1 AND end_lt >= $lt',
      { lt },
    );
    return Number(rows[0]?.[0] ?? 0);
  }
}

/** What a span, or a block, lacks. */
function reasonOf(faults: readonly Fault[]): string {
  const more = faults.length > 1 ? `, and ${faults.length - 1} more like it` : '';
  return `${faults[0]?.reason}${more}`;
}
