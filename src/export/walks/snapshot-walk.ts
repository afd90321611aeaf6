import PQueue from 'p-queue';
import { fetchEnds, fetchShardState } from '../../chain/index-ends.ts';
import { TonlakeError } from '../../core/errors.ts';
import { greatest, least, type Span } from '../../core/span.ts';
import type { ParentsDef, SnapshotWalk } from '../../declare/pipeline.ts';
import type { Given } from '../../decode/table-rows.ts';
import { WordsColumn } from '../../decode/typed-columns.ts';
import type { SourceRequest } from '../../http/request.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import type { Stage, StagedSpan } from '../../warehouse/store.ts';
import { commitList, PARTIAL, Pages, quarantineSpan, type RefusedRow } from '../list-pages.ts';
import { type ListContext, widenedContext } from '../list-run.ts';
import { boundOf } from '../lookup-keys.ts';
import { fixedQuery } from '../page-request.ts';

/** Rows in memory before they are written aside. */
const MOST_ROWS = 50_000;

/** Reads a list that changes as it is now, and stores it with the time of the reading. */
export async function walkSnapshot(run: ListContext, walk: SnapshotWalk): Promise<void> {
  const { store, asked, ends, effects, history, stop } = run;
  const span = { from: asked[0]?.from ?? 0, to: asked.at(-1)?.to ?? 0 };
  const given: Given = { read_at: BigInt(Math.round(effects.now())) * 1000n, as_of: BigInt(ends.last) };
  const older = store
    .ledger()
    .filter(({ pipeline: of, scope }) => of === run.pipeline.name && (scope === undefined || scope === PARTIAL));
  const isPart = run.from !== undefined;
  const held = history || isPart ? [] : older;
  const context = held.reduce(widenedContext, run);
  const { pipeline } = context;
  const stage = store.stage(pipeline.name, span);
  let failure: TonlakeError | undefined;
  try {
    const reading = new Reading(context, walk, stage, given);
    if (walk.parents === undefined) await reading.readOne();
    else {
      const { parents, parameter } = await parentsOf(context, walk.parents);
      await reading.readAll(parents, parameter);
      if (walk.parents.hasOrphans === true && context.from === undefined) failure = await reading.readOrphans();
    }
    if (stop.aborted) return await stage.discard();
    const { refused } = reading;
    const { last } = await fetchEnds(context.source);
    const asOf = { from: ends.last, to: last };
    // A reading that broke off takes the place of others like it, not of a whole one.
    const replaced = held.filter(({ scope }) => failure === undefined || scope === PARTIAL);
    const covered = hull([span, ...replaced.map((entry) => entry.span)]);
    const scope = context.from ?? (refused.length > 0 || failure !== undefined ? PARTIAL : undefined);
    const supersedes = replaced.map(({ id }) => id);
    await commitList(context, await reading.finish(), { span: covered, asOf, scope, supersedes });
    if (refused.length > 0) await quarantineSpan(context, span, refused);
    await tellSkew(context, walk, given, asOf);
    if (failure === undefined) return;
    const { code, message } = failure;
    context.report({ event: 'problem', pipeline: pipeline.name, ...span, code, message });
  } catch (error) {
    await stage.discard();
    throw error;
  }
}

/** Tells how many rows of a reading changed after the block that it is as of. */
async function tellSkew(
  { store, source, pipeline, report }: ListContext,
  { newer }: SnapshotWalk,
  given: Given,
  { from, to }: Span,
): Promise<void> {
  if (newer === undefined || from === to) return;
  const shards = await fetchShardState(source, from, `${pipeline.name} ${from}`);
  const horizon = shards.reduce((least, { endLt }) => (endLt < least ? endLt : least), shards[0]?.endLt ?? 0n);
  const { rows } = await store.query(
    `SELECT count(*) FROM ${quoteName(pipeline.tables[0]?.name ?? '')}
     WHERE _read_at = make_timestamp($read_at::BIGINT) AND ${quoteName(newer)} >= $horizon`,
    { read_at: given['read_at'], horizon },
  );
  report({ event: 'skew', pipeline: pipeline.name, from, to, rows: Number(rows[0]?.[0] ?? 0) });
}

function hull(spans: readonly Span[]): Span {
  return { from: least(spans.map(({ from }) => from)), to: greatest(spans.map(({ to }) => to)) };
}

/** The parents whose lists are read, and the parameter that they are asked by: the declared ones, or those of `--from`. */
async function parentsOf(
  { store, asked, from }: ListContext,
  { query, parameter }: ParentsDef,
): Promise<{ readonly parents: readonly string[]; readonly parameter: string }> {
  const range = { from: asked[0]?.from ?? 0, to: asked.at(-1)?.to ?? 0 };
  const wanted = from ?? query;
  const { rows, columns } = await store.query(wanted, boundOf(wanted, range));
  const found = rows.filter(([parent]) => parent !== null).map(([parent]) => String(parent));
  return { parents: [...new Set(found)].sort(), parameter: from === undefined ? parameter : (columns[0]?.name ?? '') };
}

/** One reading of a list, or of the lists of some parents. */
class Reading {
  private readonly context: ListContext;
  private readonly walk: SnapshotWalk;
  private readonly stage: Stage;
  private readonly given: Given;
  private readonly pages: Pages;
  private readonly key: readonly string[];
  private flushes = 0;
  readonly refused: RefusedRow[] = [];

  constructor(context: ListContext, walk: SnapshotWalk, stage: Stage, given: Given) {
    this.context = context;
    this.walk = walk;
    this.stage = stage;
    this.given = given;
    this.pages = new Pages(context);
    const [table] = context.pipeline.tables;
    this.key = (table?.key ?? []).filter((name) => name !== '_read_at');
  }

  /** A list by itself. Rows that were added while it was read may have come before its end: its tail is read again. */
  async readOne(): Promise<void> {
    const { limit, most } = this.walk;
    const rows = await this.readPages([], 0);
    if (most !== undefined) return;
    const { last } = await fetchEnds(this.context.source);
    if (last > this.context.ends.last) await this.readPages([], Math.max(0, rows - limit));
  }

  async readAll(parents: readonly string[], parameter: string): Promise<void> {
    const { concurrency, report, pipeline } = this.context;
    report({ event: 'planned', pipeline: pipeline.name, requests: parents.length });
    const queue = new PQueue({ concurrency });
    let fatal: { readonly error: unknown } | undefined;
    for (const parent of parents) {
      await queue.onSizeLessThan(2 * concurrency);
      if (fatal !== undefined) break;
      // Rows of a list are written only between lists.
      if (this.pages.decoder.records > MOST_ROWS) {
        await queue.onIdle();
        await this.flush();
      }
      void queue.add(() =>
        this.readPages([[parameter, parent]], 0).catch((error: unknown) => {
          fatal ??= { error };
        }),
      );
    }
    await queue.onIdle();
    if (fatal !== undefined) throw fatal.error;
  }

  /**
   * Rows without a parent stand only in the list of everything. A large one is slow at its end, and may not be had to its end.
   *
   * @returns why it was not
   */
  async readOrphans(): Promise<TonlakeError | undefined> {
    await this.flush();
    try {
      await this.readOne();
    } catch (error) {
      if (!(error instanceof TonlakeError && error.code === 'server-error')) throw error;
      return error;
    }
    return undefined;
  }

  private async readPages(filter: readonly (readonly [string, string])[], start: number): Promise<number> {
    const { context, walk, pages } = this;
    const { limit, most = Number.POSITIVE_INFINITY } = walk;
    for (let offset = start; offset < most && !context.stop.aborted; offset += limit) {
      const ask = this.askOf(filter, offset, Math.min(limit, most - offset));
      const page = await context.source.fetch(ask, ({ body, request }) => pages.add(body, request, this.given));
      this.refused.push(...page.refused);
      context.report({ event: 'progress', pipeline: context.pipeline.name, seqnos: 0, records: page.records });
      if (page.records < limit) return offset + page.records;
      if (filter.length === 0 && pages.decoder.records > MOST_ROWS) await this.flush();
    }
    return most;
  }

  private askOf(filter: readonly (readonly [string, string])[], offset: number, limit: number): SourceRequest {
    const { pipeline } = this.context;
    const skip = offset === 0 ? [] : [['offset', String(offset)] as const];
    return {
      path: pipeline.endpoint.replace(/^GET /, ''),
      query: [...filter, ['limit', String(limit)], ...skip, ...fixedQuery(pipeline)],
      label: `${pipeline.name} ${filter.map(([, value]) => `${value} `).join('')}from ${offset}`,
    };
  }

  /** Everything that was read, each key once: where one was read several times, the newest. */
  async finish(): Promise<StagedSpan> {
    await this.flush();
    const [table] = this.context.pipeline.tables;
    const rule = { key: this.key, column: this.walk.newer };
    return this.stage.finish(this.flushes > 1 && table !== undefined ? { [table.name]: rule } : {});
  }

  /** Writes the rows so far, each key once. */
  private async flush(): Promise<void> {
    const { pages } = this;
    this.flushes++;
    const keyOf = pages.keyOf(this.key);
    const isNewer = this.newer();
    const chosen = new Map<string, number>();
    for (const row of pages.all()) {
      const key = keyOf(row);
      const other = chosen.get(key);
      if (other !== undefined && !isNewer(row, other)) continue;
      chosen.set(key, row);
    }
    await pages.stage(this.stage, Int32Array.from(chosen.values()));
    pages.clear();
  }

  /** Whether a row is newer than one that was read before it. */
  private newer(): (row: number, than: number) => boolean {
    const { newer } = this.walk;
    const column = newer === undefined ? undefined : this.pages.decoder.column(newer);
    if (!(column instanceof WordsColumn)) return () => true;
    return (row, than) => column.signed64(row) >= column.signed64(than);
  }
}
