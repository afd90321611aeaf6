import type { PipelineDef } from '../declare/pipeline.ts';
import type { RoleName } from '../declare/roles.ts';
import { Arena } from './arena.ts';
import type { Batch } from './batch.ts';
import { compilePlan, type Plan } from './decode-plan.ts';
import { reshape } from './reshape.ts';
import { type ScannedPage, scanPage } from './scan-page.ts';
import type { Given, TableRows } from './table-rows.ts';
import type { AnyColumn } from './typed-columns.ts';

/** Number of rows of each table at some time. */
export type Mark = readonly number[];

/** Decodes pages of one pipeline into batches of its tables. Rows accumulate until `clear`. */
export class Decoder {
  readonly pipeline: PipelineDef;
  private readonly plan: Plan;
  /** Memory of the last result of `choose`. */
  private readonly arena = new Arena();

  constructor(pipeline: PipelineDef) {
    this.pipeline = pipeline;
    this.plan = compilePlan(pipeline);
  }

  /**
   * Adds the records of a page (UTF-8 JSON). A record that does not match the declaration adds nothing and is reported.
   *
   * @param given properties of the request: for all records, or for each by position
   * @throws {DecodeError} if the page is not JSON (retryable) or has another shape; then nothing is added
   */
  decode(page: Uint8Array, given?: Given | readonly Given[]): ScannedPage {
    const { shape, root, pipeline } = this.plan;
    const before = root.rows.count;
    const scanned = scanPage(this.plan, shape === undefined ? page : reshape(pipeline, shape, page));
    if (given !== undefined) fillRows(root.rows, before, given, scanned);
    return scanned;
  }

  mark(): Mark {
    return this.plan.tables.map((rows) => rows.count);
  }

  /** Removes everything since a mark. */
  rollback(mark: Mark): void {
    for (const [i, rows] of this.plan.tables.entries()) rows.truncate(mark[i] as number);
  }

  /** Number of records so far. */
  get records(): number {
    return this.plan.root.rows.count;
  }

  /** Size of the rows so far in bytes. */
  get byteSize(): number {
    return this.plan.tables.reduce((sum, rows) => sum + rows.byteSize(), 0);
  }

  /** All rows so far, in the order of the declaration's tables; nested rows are not sorted. */
  batches(): readonly Batch[] {
    const all = Int32Array.from({ length: this.records }, (_, row) => row);
    return this.batchesOf(all, new Arena(), (rows) => rows.nestedIn(all));
  }

  /** Records in the sort order of their table. */
  sorted(records: Int32Array): Int32Array {
    return this.plan.root.rows.sorted(records);
  }

  /** Copies of the given records, in that order, and of their nested rows, sorted. Valid until the next call. */
  choose(records: Int32Array): readonly Batch[] {
    this.arena.reset();
    return this.batchesOf(records, this.arena, (rows) => rows.sorted(rows.nestedIn(records)));
  }

  /** Returns memory of `choose` that was transferred to another thread. */
  giveBack(memory: readonly ArrayBuffer[]): void {
    this.arena.giveBack(memory);
  }

  private batchesOf(records: Int32Array, arena: Arena, nestedIn: (rows: TableRows) => Int32Array): readonly Batch[] {
    const made = new Map<string, Batch>();
    for (const rows of this.plan.tables) {
      made.set(rows.table.name, rows.batch(rows.parent === undefined ? records : nestedIn(rows), arena));
    }
    for (const rows of this.plan.projections) made.set(rows.table.name, rows.batch(records, arena));
    return this.pipeline.tables.map((table) => made.get(table.name) as Batch);
  }

  /** A column of the records, for checks without a copy. Its memory moves as rows are added. */
  column(name: string): AnyColumn {
    return this.plan.root.rows.named(name);
  }

  /** The nested rows whose table plays a role, if any; for checks without a copy. */
  nested(role: RoleName): TableRows | undefined {
    return this.plan.tables.find((rows) => rows.table.plays === role && rows.parent !== undefined);
  }

  clear(): void {
    for (const rows of this.plan.tables) rows.clear();
  }
}

function fillRows(rows: TableRows, before: number, given: Given | readonly Given[], { refused }: ScannedPage): void {
  if (!isList(given)) {
    rows.fill(before, rows.count, given);
    return;
  }
  const bad = new Set(refused.map(({ index }) => index));
  const kept = given.filter((_, index) => !bad.has(index)).slice(0, rows.count - before);
  for (const [index, one] of kept.entries()) rows.fill(before + index, before + index + 1, one);
}

function isList(given: Given | readonly Given[]): given is readonly Given[] {
  return Array.isArray(given);
}
