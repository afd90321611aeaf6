import type { Span } from '../core/span.ts';
import { blockColumn } from '../declare/block-column.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName } from './canonical-text.ts';

/** Maximum number of spans compared one by one; more are joined, which takes longer to start. */
const MAX_COMPARED = 8;

/**
 * SQL condition: true if a column is within one of the spans; null or false if the column is null.
 *
 * @param column quoted
 */
export function spanCondition(column: string, spans: readonly Span[]): string {
  if (spans.length === 0) return 'false';
  if (spans.length <= MAX_COMPARED) {
    return `(${spans.map(({ from, to }) => `${column} BETWEEN ${from} AND ${to}`).join(' OR ')})`;
  }
  const listed = (of: (span: Span) => number): string => `unnest([${spans.map(of).join(', ')}])`;
  return `EXISTS (SELECT 1 FROM (SELECT ${listed(({ from }) => from)} AS span_from, ${listed(({ to }) => to)} AS span_to)
    WHERE ${column} BETWEEN span_from AND span_to)`;
}

/** SQL condition for the rows of some blocks; true for rows that belong to no block. */
export function inSpans(pipeline: PipelineDef, table: TableDef, spans: readonly Span[]): string {
  const column = blockColumn(pipeline, table);
  return column === undefined ? 'true' : spanCondition(quoteName(column), spans);
}
