import { sha256Of } from '../core/sha256.ts';
import { haveCommon, hullOf, type Span, unionSpans } from '../core/span.ts';
import { blockColumn } from '../declare/block-column.ts';
import { kinds } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { withoutEnd } from '../sql/statements.ts';
import { type LedgerEntry, type Store, spansOf } from '../warehouse/index.ts';
import { martPipeline } from './commit-mart.ts';
import type { MartDef } from './load-marts.ts';
import { entriesOf, newestNumber, pipelinesBehind } from './mart-inputs.ts';

/** Hash of the select of a mart and of the marts that it reads. Only rows of the same select can be merged. */
export function selectStamp(marts: readonly MartDef[], mart: MartDef): string {
  const others = marts.filter(({ name }) => mart.inputs.includes(name)).map((each) => selectStamp(marts, each));
  return sha256Of(JSON.stringify([mart.file.sql, mart.macros, others]), 16);
}

interface MergeContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly marts: readonly MartDef[];
}

/** Rows of the inputs that a build of a merged mart reads, while others may commit more. */
export interface InputRows {
  /** Number of the newest entry whose rows are among them. */
  readonly through: number;
  /** Conditions for the rows of each input. */
  readonly wheres: ReadonlyMap<string, string>;
  /** Blocks of these rows. Inputs without blocks have none. */
  readonly spans: ReadonlyMap<string, readonly Span[]>;
}

/** The rows of each input that are committed now, as far as blocks tell them from later ones. */
export function committedRowsOf({ store, registry }: MergeContext, mart: MartDef): InputRows {
  const ledger = store.ledger();
  const wheres = new Map<string, string>();
  const spans = new Map<string, readonly Span[]>();
  for (const input of mart.inputs) {
    const column = blockColumnOf(registry, input);
    const hull = hullOf(entriesOf(ledger, input).flatMap(spansOf));
    if (column === undefined || hull === undefined) continue;
    spans.set(input, [hull]);
    wheres.set(input, within(column, [hull]));
  }
  return { through: newestNumber(store), wheres, spans };
}

/**
 * The new rows of each input. Undefined if rows that the mart has read were replaced or removed, or if an input belongs to no blocks.
 */
export async function newRowsOf(
  context: MergeContext,
  mart: MartDef,
  before: LedgerEntry,
): Promise<InputRows | undefined> {
  const { store, registry, marts } = context;
  const since = before.mart?.through;
  if (since === undefined) return undefined;
  const log = await store.log(since);
  const fresh = new Set(log.map(({ id }) => id));
  const wheres = new Map<string, string>();
  const spans = new Map<string, readonly Span[]>();
  for (const input of mart.inputs) {
    const other = marts.find(({ name }) => name === input);
    const column = blockColumnOf(registry, input);
    const feeds = feedsOf(context, input);
    const changes = log.filter((entry) => feeds.includes(entry.pipeline) && entry.copies === undefined);
    // A daily mart keeps the rows of forgotten blocks.
    const changesNothing = (entry: LedgerEntry): boolean => entry.forgotten !== undefined && other?.isDaily === true;
    if (changes.some((entry) => !changesNothing(entry) && !isAddition(entry, fresh))) return undefined;
    if (other?.isDaily === true) {
      const days = entriesOf(store.ledger(), input).filter(({ number }) => number > since);
      const dates = days.flatMap(({ mart: stamp }) => stamp?.day ?? []).map((day) => `DATE ${quoteText(day)}`);
      wheres.set(input, dates.length === 0 ? 'false' : `block_date IN (${dates.join(', ')})`);
    } else if (column !== undefined) {
      const added = changes.filter(({ verdict }) => verdict === 'accepted').flatMap(spansOf);
      wheres.set(input, within(column, added));
      spans.set(input, added);
    } else if (changes.length > 0) return undefined;
  }
  return { through: log.at(-1)?.number ?? since, wheres, spans };
}

/**
 * True if what comes after some rows can be merged into what was made of them: nothing that came while they were read is among them, or it does
 * no harm to merge it again.
 */
export async function isMergeable(
  context: MergeContext,
  mart: MartDef,
  { through, spans }: InputRows,
): Promise<boolean> {
  if (mart.merge?.every(({ kind }) => kind !== 'sum')) return true;
  const log = (await context.store.log(through)).filter(({ copies }) => copies === undefined);
  return mart.inputs.every((input) => {
    const feeds = [...feedsOf(context, input), martPipeline(input)];
    const changes = log.filter(({ pipeline }) => feeds.includes(pipeline));
    return changes.length === 0 || !haveCommon(changes.flatMap(spansOf), spans.get(input) ?? changes.flatMap(spansOf));
  });
}

/** Names of the pipelines whose commits change an input. */
function feedsOf({ registry, marts }: MergeContext, input: string): readonly string[] {
  const other = marts.find(({ name }) => name === input);
  return other === undefined ? [registry.writerOf(input)?.name ?? ''] : pipelinesBehind(registry, marts, other);
}

/** The column of an input with the masterchain blocks of its rows; undefined if they belong to none, and for marts. */
function blockColumnOf(registry: Registry, input: string): string | undefined {
  const pipeline = registry.writerOf(input);
  return pipeline && blockColumn(pipeline, registry.table(input));
}

/** The select of a mart, limited to rows of some blocks. */
export function selectWithin({ registry }: Pick<MergeContext, 'registry'>, mart: MartDef, span: Span): string {
  const wheres = mart.inputs.flatMap((input): [string, string][] => {
    const column = blockColumnOf(registry, input);
    return column === undefined ? [] : [[input, within(column, [span])]];
  });
  return limitedSelect(mart, wheres);
}

/** The select of a mart over the rows of its inputs that meet a condition. */
export function limitedSelect(mart: MartDef, wheres: Iterable<readonly [table: string, where: string]>): string {
  const inputs = limitedInputs(wheres);
  return inputs.length === 0 ? selectOf(mart) : `WITH ${inputs.join(',\n')}\nSELECT * FROM (\n${selectOf(mart)}\n)`;
}

/** The select of a mart without a semicolon at its end. */
export function selectOf({ file }: MartDef): string {
  return withoutEnd(file.sql);
}

/** CTEs that shadow the inputs of a select with the rows that meet a condition. */
export function limitedInputs(wheres: Iterable<readonly [table: string, where: string]>): readonly string[] {
  return [...wheres].map(([name, where]) => {
    return `${quoteName(name)} AS NOT MATERIALIZED (SELECT * FROM main.${quoteName(name)} WHERE ${where})`;
  });
}

function isAddition({ id, supersedes, forgotten }: LedgerEntry, fresh: ReadonlySet<string>): boolean {
  return forgotten === undefined && supersedes.every((other) => other === id || fresh.has(other));
}

function within(column: string, spans: readonly Span[]): string {
  const parts = unionSpans(spans).map(({ from, to }) => `${quoteName(column)} BETWEEN ${from} AND ${to}`);
  return parts.length === 0 ? 'false' : parts.join(' OR ');
}

/** Select that merges new rows of the inputs into the earlier rows of a mart; without `_coverage` and order. */
export function mergedSelect(
  { store }: Pick<MergeContext, 'store'>,
  mart: MartDef,
  before: LedgerEntry,
  newRows: ReadonlyMap<string, string>,
): string {
  const { table, merge = [] } = mart;
  const names = table.columns.map(({ name }) => name).filter((name) => name !== '_coverage');
  const columns = names.map(quoteName).join(', ');
  const key = table.key.map(quoteName).join(', ');
  const values = new Map(table.key.map((name) => [name, quoteName(name)]));
  for (const rule of merge) {
    const by = rule.kind === 'sum' ? '' : quoteName(rule.by);
    if (rule.kind !== 'sum') values.set(rule.by, `${rule.kind === 'latest' ? 'max' : 'min'}(${by})`);
    for (const name of rule.columns) {
      const column = quoteName(name);
      if (rule.kind === 'sum') values.set(name, `sum(${column})::${typeOf(table, name)}`);
      else values.set(name, `${rule.kind === 'latest' ? 'arg_max_null' : 'arg_min_null'}(${column}, ${by})`);
    }
  }
  const merged = names.map((name) => `${values.get(name) ?? quoteName(name)} AS ${quoteName(name)}`).join(', ');
  return `WITH ${[
    ...limitedInputs(newRows),
    `_new AS MATERIALIZED (SELECT ${columns} FROM (\n${selectOf(mart)}\n))`,
    `_old AS NOT MATERIALIZED (SELECT ${columns} FROM (${store.rows.select(table, [before])}))`,
  ].join(',\n')}
SELECT ${columns} FROM _old ANTI JOIN _new USING (${key})
UNION ALL
SELECT ${merged} FROM (SELECT ${columns} FROM _old SEMI JOIN _new USING (${key}) UNION ALL SELECT ${columns} FROM _new) GROUP BY ${key}`;
}

function typeOf(table: TableDef, name: string): string {
  const kind = table.columns.find((column) => column.name === name)?.kind ?? 'int64-number';
  return kinds[kind].sql;
}
