import { comparisonOf, type FaultKind, type ListComparison } from '../audit/list-faults.ts';
import { AuditError } from '../core/errors.ts';
import { intersectSpans, type Span, subtractSpans } from '../core/span.ts';
import { doneSpans } from '../warehouse/ledger/done-spans.ts';
import { lacks } from '../warehouse/query/left-out-gaps.ts';
import { selectFiles } from '../warehouse/relations/table-relation.ts';
import { schemaOf } from '../warehouse/relations/table-schema.ts';
import type { Stage, StagedSpan } from '../warehouse/store.ts';
import type { Pages } from './list-pages.ts';
import type { ListContext } from './list-run.ts';
import type { LtWindow } from './lt-windows.ts';
import { fetchItems, fetchVerified } from './refetch-items.ts';

/** Masterchain blocks before a span whose transactions are looked at: a trace that began earlier is asked for by its id instead. */
const LOOK_BACK = 2_000;
/** How often what is missing is asked for by itself; what that brings can tell of more. */
const ROUNDS = 2;

const KINDS: readonly FaultKind[] = ['missing', 'unverified', 'unsure', 'wrong'];

/** Something that transactions say of a list, and the list does not. */
export interface Fault {
  readonly seqno: number;
  /** What the list can be asked by: a trace, a message, an account. */
  readonly item: string;
  readonly lt: bigint | undefined;
  readonly kind: FaultKind;
  readonly reason: string;
}

/** Rows of a span, staged; with faults, or ready to be committed. */
export interface Settled {
  readonly rows: Int32Array;
  readonly stage: Stage;
  readonly staged: StagedSpan;
  /** What is still missing, or wrong. */
  readonly faults: readonly Fault[];
  /** Whether the rows were compared with transactions. */
  readonly isCompared: boolean;
}

/** Compares the rows of a list with the transactions that the warehouse holds, and asks again for what is missing. */
export class ListProof {
  private readonly context: ListContext;
  private readonly comparison: ListComparison | undefined;

  constructor(context: ListContext) {
    this.context = context;
    this.comparison = comparisonOf(context.pipeline);
  }

  /** Blocks of which everything is held that the list is compared with. */
  private held(): readonly Span[] {
    const { store, registry } = this.context;
    const { comparison } = this;
    if (comparison === undefined) return [];
    const ledger = store.ledger();
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

  /** Stages rows and compares them; what is missing is asked for and added. */
  async settle(pages: Pages, span: Span, rows: Int32Array, range?: LtWindow): Promise<Settled> {
    const asked = new Set<string>();
    for (let round = 1; ; round++) {
      const stage = this.context.store.stage(this.context.pipeline.name, span);
      try {
        await pages.stage(stage, rows);
        const staged = await stage.finish();
        const run = this.runOf(span);
        if (run === undefined) return { rows, stage, staged, faults: [], isCompared: false };
        const faults = await this.compare(staged, span, run, range);
        const open = faults.filter(({ kind, item, lt }) => kind !== 'wrong' && !asked.has(`${item} ${lt}`));
        for (const { item, lt } of open) asked.add(`${item} ${lt}`);
        const found =
          open.length === 0 || round > ROUNDS ? [] : await fetchItems(this.context, pages, open, rows, span);
        if (found.length === 0) {
          return { rows, stage, staged, faults: await this.certain(faults), isCompared: true };
        }
        await stage.discard();
        rows = Int32Array.from([...rows, ...found]);
      } catch (error) {
        await stage.discard();
        throw error;
      }
    }
  }

  /** Faults that are none of doubt: of contracts that no row names the index is asked whether it has verified them. */
  private async certain(faults: readonly Fault[]): Promise<readonly Fault[]> {
    const unknown = faults.filter(({ kind }) => kind === 'unverified').map(({ item }) => item);
    const verified = await fetchVerified(this.context, [...new Set(unknown)]);
    return faults.filter(({ kind, item }) => (kind === 'unverified' ? verified.has(item) : kind !== 'unsure'));
  }

  private async compare(staged: StagedSpan, span: Span, run: Span, range?: LtWindow): Promise<readonly Fault[]> {
    const { pipeline, store } = this.context;
    const [table] = pipeline.tables;
    if (this.comparison === undefined || table === undefined) return [];
    const paths = (staged.tables[table.name]?.files ?? []).map(({ stagedPath }) => stagedPath);
    const own = selectFiles(table, [{ columns: schemaOf(table).columns, paths }]);
    const first = await this.lowOf(run);
    const low = range !== undefined && range.from > first ? range.from : first;
    const high = range === undefined ? 0n : range.to + 1n;
    const from = range === undefined ? span.from - LOOK_BACK : await this.firstBlockAt(low);
    const judged = `SELECT ${span.from} AS run_from, ${span.to} AS run_to, ${Math.max(run.from, from)} AS held_from,
      ${low}::BIGINT AS low, ${high}::BIGINT AS high`;
    const { rows } = await store.query(
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
    const { rows } = await this.context.store.query(
      'SELECT min(start_lt) FROM _headers WHERE workchain = -1 AND mc_block_seqno = $from',
      { from },
    );
    return BigInt(String(rows[0]?.[0] ?? 0));
  }

  /** The first masterchain block that can include a message of a logical time. */
  private async firstBlockAt(lt: bigint): Promise<number> {
    const { rows } = await this.context.store.query(
      'SELECT min(mc_block_seqno) FROM _headers WHERE workchain = -1 AND end_lt >= $lt',
      { lt },
    );
    return Number(rows[0]?.[0] ?? 0);
  }
}

/** What a span, or a block, lacks. */
export function faultError(pipeline: string, { from, to }: Span, faults: readonly Fault[]): AuditError {
  const more = faults.length > 1 ? `, and ${faults.length - 1} more like it` : '';
  const where = from === to ? `${from}` : `${from}:${to}`;
  return new AuditError(`audit ${pipeline} ${where}: ${faults[0]?.reason}${more}`, { code: 'unproven' });
}
