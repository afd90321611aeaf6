import { haveCommon, intersectSpans, type Span } from '../core/span.ts';
import { blockColumn } from '../declare/block-column.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { spanCondition } from '../sql/span-condition.ts';
import { type Alert, withNewRows } from './alert.ts';
import type { FollowedTables } from './followed-tables.ts';
import { timeColumn } from './logical-times.ts';
import type { NextRows } from './next-rows.ts';
import { type FeedView, selectRows } from './read-rows.ts';

/** Rows that were committed when an alert began. They cause no alert, even if they are read again. */
export interface Before {
  /** Ascending, not adjacent. */
  readonly spans: readonly Span[];
  /** Greatest logical time of each table without a block column. */
  readonly times: Readonly<Record<string, string>>;
}

/** Greatest stored logical time of each table without a block column. */
export async function newestTimes(
  view: FeedView,
  { pipeline, tables }: FollowedTables,
): Promise<Readonly<Record<string, string>>> {
  const times: Record<string, string> = {};
  for (const table of tables) {
    const column = timeColumn(table);
    if (blockColumn(pipeline, table) !== undefined || column === undefined) continue;
    const { rows } = await view.query(`SELECT max(${quoteName(column)})::VARCHAR FROM ${quoteName(table.name)}`);
    const [[newest] = []] = rows;
    if (typeof newest === 'string') times[table.name] = newest;
  }
  return times;
}

/** Runs the select of an alert over new rows. @returns undefined if the row counts differ from the ledger */
export async function alertRows(
  view: FeedView,
  { select }: Pick<Alert, 'select'>,
  rows: NextRows,
  before: Before,
): Promise<QueryResult | undefined> {
  const relations: Record<string, string> = {};
  for (const table of rows.tables) {
    const sql = selectRows(view, rows, table);
    const expected = rows.limits?.rows?.get(table.name);
    if (expected !== undefined) {
      const { rows: counted } = await view.query(`SELECT count(*)::INTEGER FROM (${sql})`);
      if (Number(counted[0]?.[0]) !== expected) return undefined;
    }
    relations[table.name] = `FROM (${sql}) WHERE ${isNews(rows, table, before)}`;
  }
  return view.query(withNewRows(select, relations));
}

/** SQL condition for rows that were not committed when the alert began. */
function isNews({ pipeline, spans, replaces }: NextRows, table: TableDef, before: Before): string {
  if (!replaces || !haveCommon(spans, before.spans)) return 'true';
  const block = blockColumn(pipeline, table);
  if (block !== undefined) return `NOT (${spanCondition(quoteName(block), intersectSpans(spans, before.spans))})`;
  const newest = before.times[table.name];
  const column = timeColumn(table);
  return newest === undefined || column === undefined ? 'true' : `${quoteName(column)} > ${BigInt(newest)}`;
}
