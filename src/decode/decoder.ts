import { DecodeError } from '../core/errors.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { RoleName } from '../declare/roles.ts';
import { Arena } from './arena.ts';
import type { Batch } from './batch.ts';
import { buildPlan, compilePlan, type Plan } from './decode-plan.ts';
import { Kernel } from './kernel.ts';
import { type ScannedPage, scanPage } from './scan-page.ts';
import type { Given, RowList, TableRows } from './table-rows.ts';
import type { AnyColumn } from './typed-columns.ts';

/** Number of rows of each table at some time. */
export type Mark = readonly number[];

/** Memory of WebAssembly never shrinks: after a span that took more, the next one gets a new instance. */
const REUSED_BYTES = 256 * 2 ** 20;
/** Maximum of bytes that the rows of a span, and a page, may take together. */
const MAX_BYTES = 2 ** 31;

/** Decodes pages of one pipeline into batches of its tables, in WebAssembly. Rows accumulate until `clear`. */
export class Decoder {
  readonly pipeline: PipelineDef;
  private readonly plan: Plan;
  private readonly mostBytes: number;
  private kernel: Kernel;
  private failure: DecodeError | undefined;
  private exposed: TableRows | undefined;
  /** Memory of the last result of `choose`. */
  private readonly arena = new Arena();

  constructor(pipeline: PipelineDef, mostBytes = MAX_BYTES) {
    this.pipeline = pipeline;
    this.plan = compilePlan(pipeline);
    this.mostBytes = mostBytes;
    this.kernel = this.open();
  }

  /**
   * Adds the records of a page (UTF-8 JSON). A record that does not match the declaration adds nothing and is reported.
   *
   * @param given properties of the request: for all records, or for each by position
   * @throws {DecodeError} if the page is not JSON (retryable) or has another shape; then nothing is added. `too-large` if the memory
   * does not suffice; then every call throws it until `clear`
   */
  decode(page: Uint8Array, given?: Given | readonly Given[]): ScannedPage {
    return this.call((kernel) => {
      const { records } = this.plan;
      const before = records.count;
      const scanned = scanPage(kernel, this.plan, page);
      if (given !== undefined) fillRows(kernel, records, before, given, scanned);
      return scanned;
    });
  }

  mark(): Mark {
    return this.plan.tables.map((rows) => rows.count);
  }

  /** Removes everything since a mark. */
  rollback(mark: Mark): void {
    this.call(({ calls }) => {
      for (const [i, { address }] of this.plan.tables.entries()) calls.truncateRows(address, mark[i] as number);
    });
  }

  /** Number of records so far. */
  get records(): number {
    return this.plan.records.count;
  }

  /** Size of the rows so far in bytes. */
  get byteSize(): number {
    return this.plan.tables.reduce((sum, { address }) => sum + this.kernel.calls.bytesIn(address), 0);
  }

  /** All rows so far, in the order of the declaration's tables; nested rows are not sorted. */
  batches(): readonly Batch[] {
    return this.batchesOf(
      Int32Array.from({ length: this.records }, (_, row) => row),
      new Arena(),
      false,
    );
  }

  /** Records in the sort order of their table. */
  sorted(records: Int32Array): Int32Array {
    return this.call((kernel) => {
      const at = giveRows(kernel, records);
      kernel.calls.sort(this.plan.records.address, at, records.length);
      return Int32Array.from(kernel.words.subarray(at >> 2, (at >> 2) + records.length));
    });
  }

  /** Copies of the given records, in that order, and of their nested rows, sorted. Valid until the next call. */
  choose(records: Int32Array): readonly Batch[] {
    this.arena.reset();
    return this.batchesOf(records, this.arena, true);
  }

  /** A column of the records, for checks without a copy. Refreshed after each call. */
  column(name: string): AnyColumn {
    return this.plan.records.named(name);
  }

  /** True if the records have a column: a selection may leave it out. */
  has(name: string): boolean {
    return this.plan.records.has(name);
  }

  /** The nested rows whose table plays a role, if any; for checks without a copy. */
  nested(role: RoleName): TableRows | undefined {
    this.exposed = this.plan.tables.find((rows) => rows.table.plays === role && rows.parent !== undefined);
    this.exposed?.refreshNested(this.kernel);
    return this.exposed;
  }

  clear(): void {
    if (this.failure !== undefined || this.kernel.size > REUSED_BYTES) {
      this.failure = undefined;
      this.kernel = this.open();
    }
    this.call(({ calls }) => {
      for (const { address } of this.plan.tables) calls.clearRows(address);
    });
  }

  private open(): Kernel {
    const kernel = new Kernel();
    kernel.calls.setLimit(this.mostBytes);
    buildPlan(kernel, this.plan);
    return kernel;
  }

  /** Calls the kernel, then refreshes all views of its memory. */
  private call<T>(work: (kernel: Kernel) => T): T {
    if (this.failure !== undefined) throw this.failure;
    try {
      return work(this.kernel);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'RuntimeError') throw error;
      this.failure = tooLarge(this.pipeline, this.mostBytes, error);
      throw this.failure;
    } finally {
      if (this.failure === undefined) this.refresh();
    }
  }

  private refresh(): void {
    for (const rows of this.plan.tables) rows.refresh(this.kernel);
    this.exposed?.refreshNested(this.kernel);
  }

  private batchesOf(records: Int32Array, arena: Arena, isSorted: boolean): readonly Batch[] {
    return this.call((kernel) => {
      const { calls } = kernel;
      const chosen: RowList = { at: giveRows(kernel, records), count: records.length };
      const made = new Map<string, Batch>();
      for (const rows of this.plan.tables) {
        let list = chosen;
        if (rows.parent !== undefined) {
          const count = calls.nestedIn(rows.address, chosen.at, chosen.count);
          list = { at: calls.nestedRows(), count };
          if (isSorted) calls.sort(rows.address, list.at, count);
        }
        made.set(rows.table.name, rows.batch(kernel, list, arena));
      }
      for (const rows of this.plan.projections) made.set(rows.table.name, rows.batch(kernel, chosen, arena));
      return this.pipeline.tables.map((table) => made.get(table.name) as Batch);
    });
  }
}

function giveRows(kernel: Kernel, rows: Int32Array): number {
  const at = kernel.calls.roomForRows(rows.length);
  kernel.words.set(rows, at >> 2);
  return at;
}

function tooLarge({ name }: PipelineDef, bytes: number, cause: Error): DecodeError {
  const most = Math.floor(bytes / 2 ** 20);
  return new DecodeError(`decode ${name}: expected rows and a page of at most ${most} MiB together, got more`, {
    code: 'too-large',
    cause,
  });
}

function fillRows(
  kernel: Kernel,
  rows: TableRows,
  before: number,
  given: Given | readonly Given[],
  { refused }: ScannedPage,
): void {
  const count = kernel.calls.rowsIn(rows.address);
  if (!isList(given)) {
    rows.fill(kernel, before, count, given);
    return;
  }
  const bad = new Set(refused.map(({ index }) => index));
  const kept = given.filter((_, index) => !bad.has(index)).slice(0, count - before);
  for (const [index, one] of kept.entries()) rows.fill(kernel, before + index, before + index + 1, one);
}

function isList(given: Given | readonly Given[]): given is readonly Given[] {
  return Array.isArray(given);
}
