import type { PipelineDef } from '../declare/pipeline.ts';
import type { Batch } from './batch.ts';
import { compilePlan, type Plan } from './plan.ts';
import type { AnyColumn } from './rows.ts';
import { type ScannedPage, scanPage } from './scan.ts';

/** How many rows each table held at a moment. */
export type Mark = readonly number[];

/** Turns pages of one pipeline into batches of its tables. Rows pile up until `clear`. */
export class Decoder {
  readonly pipeline: PipelineDef;
  private readonly plan: Plan;

  constructor(pipeline: PipelineDef) {
    this.pipeline = pipeline;
    this.plan = compilePlan(pipeline);
  }

  /**
   * Adds the records of a page (UTF-8 JSON). A record that does not fit the declaration adds nothing and is reported.
   *
   * @throws {DecodeError} when the page as a whole is no JSON (retryable) or of another shape; nothing is added then.
   */
  decode(page: Uint8Array): ScannedPage {
    return scanPage(this.plan, page);
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

  /** Copies of chosen records, in the order given, and of the rows nested in them. */
  choose(records: Int32Array): readonly Batch[] {
    return this.batchesOf(records);
  }

  private batchesOf(records: Int32Array | undefined): readonly Batch[] {
    const made = new Map<string, Batch>();
    for (const rows of this.plan.tables) {
      const isNested = records !== undefined && rows.parent !== undefined;
      made.set(rows.table.name, rows.batch(isNested ? rows.nestedIn(records) : records));
    }
    for (const rows of this.plan.projections) made.set(rows.table.name, rows.batch(records));
    return this.pipeline.tables.map((table) => made.get(table.name) as Batch);
  }

  /** A column of the records, for checks that need no copy. Its memory moves as rows are added. */
  column(name: string): AnyColumn {
    return this.plan.root.rows.named(name);
  }

  clear(): void {
    for (const rows of this.plan.tables) rows.clear();
  }
}
