import type { PipelineDef } from '../declare/pipeline.ts';
import type { RoleName } from '../declare/roles.ts';
import { Arena } from './arena.ts';
import type { Batch } from './batch.ts';
import { compilePlan, type Plan } from './decode-plan.ts';
import { reshape } from './reshape.ts';
import { type ScannedPage, scanPage } from './scan-page.ts';
import type { Given, TableRows } from './table-rows.ts';
import type { AnyColumn } from './typed-columns.ts';

/** How many rows each table held at a moment. */
export type Mark = readonly number[];

/** Turns pages of one pipeline into batches of its tables. Rows pile up until `clear`. */
export class Decoder {
  readonly pipeline: PipelineDef;
  private readonly plan: Plan;
  /** Memory of the records chosen last. */
  private readonly arena = new Arena();

  constructor(pipeline: PipelineDef) {
    this.pipeline = pipeline;
    this.plan = compilePlan(pipeline);
  }

  /**
   * Adds the records of a page (UTF-8 JSON). A record that does not fit the declaration adds nothing and is reported.
   *
   * @param given what the walk knows of the request: for all records, or for each by its position
   * @throws {DecodeError} when the page as a whole is no JSON (retryable) or of another shape; nothing is added then.
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

  /** Takes back everything since a mark. */
  rollback(mark: Mark): void {
    for (const [i, rows] of this.plan.tables.entries()) rows.truncate(mark[i] as number);
  }

  /** Records so far. */
  get records(): number {
    return this.plan.root.rows.count;
  }

  /** Bytes that the rows so far take. */
  get byteSize(): number {
    return this.plan.tables.reduce((sum, rows) => sum + rows.byteSize(), 0);
  }

  /** The rows so far, in the order of the declaration's tables. The memory is the decoder's: valid until its next change. */
  batches(): readonly Batch[] {
    return this.batchesOf(undefined);
  }

  /** Records in the order that their table is sorted by. */
  sorted(records: Int32Array): Int32Array {
    return this.plan.root.rows.sorted(records);
  }

  /** Copies of chosen records, in the order given, and of the rows nested in them, sorted. Valid until the next call. */
  choose(records: Int32Array): readonly Batch[] {
    this.arena.reset();
    return this.batchesOf(records);
  }

  /** Memory of chosen records that was given to another thread, and comes back. */
  giveBack(memory: readonly ArrayBuffer[]): void {
    this.arena.giveBack(memory);
  }

  private batchesOf(records: Int32Array | undefined): readonly Batch[] {
    const made = new Map<string, Batch>();
    const arena = records === undefined ? new Arena() : this.arena;
    for (const rows of this.plan.tables) {
      const isNested = records !== undefined && rows.parent !== undefined;
      made.set(rows.table.name, rows.batch(isNested ? rows.sorted(rows.nestedIn(records)) : records, arena));
    }
    for (const rows of this.plan.projections) made.set(rows.table.name, rows.batch(records, arena));
    return this.pipeline.tables.map((table) => made.get(table.name) as Batch);
  }

  /** A column of the records, for checks that need no copy. Its memory moves as rows are added. */
  column(name: string): AnyColumn {
    return this.plan.root.rows.named(name);
  }

  /** The rows nested in the records whose table plays a role; undefined where the pipeline has none. For checks that need no copy. */
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
