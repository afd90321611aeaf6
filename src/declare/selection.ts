import { didYouMean, unknownName } from '../core/did-you-mean.ts';
import { UsageError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { fixedColumns, isLeftOut, leftOutOf, narrowPipeline, WHOLE } from './left-out.ts';
import type { PipelineDef } from './pipeline.ts';
import type { LeftOut, TableDef } from './table.ts';

/** Tables and columns to export; default all. */
export interface Selection {
  /** Tables that are not exported: `account_states`. */
  readonly without?: readonly string[] | undefined;
  /** The columns to export of some tables, in addition to those that every export has. */
  readonly columns?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Columns that are not exported: `messages.body_boc`. */
  readonly withoutColumns?: readonly string[] | undefined;
}

/** The place of a name in a selection, for messages. */
export type SelectionPlace =
  | { readonly kind: 'without'; readonly at: number }
  | { readonly kind: 'columns'; readonly table: string; readonly at: number | undefined }
  | { readonly kind: 'without-column'; readonly at: number };

export interface SelectOptions {
  /** Adds the place of the name to an error. */
  readonly placed?: ((error: UsageError, place: SelectionPlace) => UsageError) | undefined;
}

/**
 * The pipelines without what a selection leaves out.
 *
 * @throws {UsageError} for an unknown table or column, and for one that cannot be left out
 */
export function selectFrom(
  pipelines: readonly PipelineDef[],
  selection: Selection,
  { placed = (error) => error }: SelectOptions = {},
): readonly PipelineDef[] {
  const leftOut: Record<string, string[]> = {};
  const add = (table: string, columns: readonly string[]): void => {
    leftOut[table] = [...(leftOut[table] ?? []), ...columns];
  };
  const check = <T>(place: SelectionPlace, work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw error instanceof UsageError ? placed(error, place) : error;
    }
  };
  const { without = [], columns = {}, withoutColumns = [] } = selection;
  for (const [at, name] of without.entries()) {
    check({ kind: 'without', at }, () => {
      requireOptional(tableOf(pipelines, name));
      add(name, [WHOLE]);
    });
  }
  const tables = leftOutOf(leftOut);
  for (const [table, names] of Object.entries(columns)) {
    const { def, pipeline } = check({ kind: 'columns', table, at: undefined }, () => staying(pipelines, table, tables));
    for (const [at, name] of names.entries()) check({ kind: 'columns', table, at }, () => requireColumn(def, name));
    const fixed = fixedColumns(pipeline, def, tables);
    add(
      table,
      def.columns.map(({ name }) => name).filter((name) => !names.includes(name) && !fixed.has(name)),
    );
  }
  for (const [at, text] of withoutColumns.entries()) {
    check({ kind: 'without-column', at }, () => {
      const [, table = '', column = ''] = /^([^.]+)\.(.+)$/.exec(text) ?? [];
      if (table === '') throw wrongColumn(pipelines, text);
      const { def, pipeline } = staying(pipelines, table, tables);
      requireColumn(def, column);
      if (columns[table]?.includes(column) === true) throw contradiction(text);
      if (fixedColumns(pipeline, def, tables).has(column)) throw fixedColumn(text);
      add(table, [column]);
    });
  }
  const all = leftOutOf(leftOut);
  return pipelines.map((pipeline) => narrowPipeline(pipeline, all));
}

interface Found {
  readonly def: TableDef;
  readonly pipeline: PipelineDef;
}

function tableOf(pipelines: readonly PipelineDef[], name: string): Found {
  for (const pipeline of pipelines) {
    const def = pipeline.tables.find((table) => table.name === name);
    if (def !== undefined) return { def, pipeline };
  }
  const names = pipelines.flatMap(({ tables }) => tables.map((table) => table.name));
  throw unknownName('an exported table', name, names, 'unknown-table');
}

/** The main table of a pipeline cannot be left out: the others are proven by it. */
function requireOptional({ def, pipeline }: Found): void {
  if (def.rows.kind !== 'records') return;
  const others = pipeline.tables.filter(({ rows }) => rows.kind !== 'records').map(({ name }) => name);
  const hint = others.length === 0 ? '' : `optional: ${others.join(' and ')}; `;
  throw usage(
    `an optional table of ${pipeline.name}`,
    def.name,
    `${hint}--columns ${def.name}=${def.key[0] ?? ''} keeps only a few of its columns`,
  );
}

function staying(pipelines: readonly PipelineDef[], name: string, leftOut: LeftOut | undefined): Found {
  const found = tableOf(pipelines, name);
  if (!isLeftOut(leftOut, name)) return found;
  throw usage('columns of an exported table', `${name}, which is left out`, 'name the table or its columns, not both');
}

function requireColumn({ name: table, columns }: TableDef, name: string): void {
  const names = columns.map((column) => column.name);
  if (names.includes(name)) return;
  throw usage(
    `a column of ${table}`,
    JSON.stringify(name),
    `${didYouMean(name, names)}${suggest('show', table)} lists its columns`,
    { code: 'unknown-column' },
  );
}

function wrongColumn(pipelines: readonly PipelineDef[], text: string): UsageError {
  const names = pipelines.flatMap(({ tables }) =>
    tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`)),
  );
  const owner = names.find((name) => name.endsWith(`.${text}`));
  return usage(
    'TABLE.COLUMN',
    JSON.stringify(text),
    owner === undefined ? 'for example messages.body_boc' : `did you mean ${owner}?`,
    { code: 'unknown-column' },
  );
}

function fixedColumn(text: string): UsageError {
  return usage('an optional column', text, 'key, sort, time and proof columns are always exported');
}

function contradiction(text: string): UsageError {
  return usage(`${text} either to export or to leave out`, 'both', 'name it once');
}
