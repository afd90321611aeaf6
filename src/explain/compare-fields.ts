import { type SentValue, writeSent } from '../api/client/exact-json.ts';
import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { escapePointer } from '../decode/decode-plan.ts';
import { Misfit, parseExact, readCell, valueAt } from '../decode/read-cell.ts';
import type { ComparedField } from './explanation.ts';

/**
 * Fields of a row's table, in the order of its columns, then those without a column.
 *
 * @param leftOut columns that were not exported
 */
export function compareFields(
  { tables }: PipelineDef,
  table: TableDef,
  { record }: { readonly record: unknown },
  values: Readonly<Record<string, string | null>>,
  leftOut: readonly string[] = [],
): readonly ComparedField[] {
  const columns = table.columns.filter(({ origin }) => origin.kind === 'path');
  const compared = columns.map((column) => compareColumn(column, record, values[column.name] ?? null, leftOut));
  return [
    ...compared,
    ...unstored(table, record).map((field) => ({ ...field, where: whereIs(tables, table, field.pointer) })),
  ];
}

function compareColumn(
  column: ColumnDef,
  record: unknown,
  stored: string | null,
  leftOut: readonly string[],
): ComparedField {
  const pointer = pathOf(column);
  const value = valueAt(record, pointer);
  const isAbsent = value === null || value === undefined;
  const about = {
    pointer,
    column: column.name,
    stored,
    sent: isAbsent ? null : sentText(value),
    isDecoration: column.decoration,
  };
  if (leftOut.includes(column.name) || leftOut.includes('*')) return { state: 'not stored', ...about };
  if (isAbsent) return { state: stored === null ? 'equal' : 'missing', ...about };
  return { state: isSame(column, value, stored) ? 'equal' : 'differs', ...about };
}

/** True if the column would hold the same value. */
function isSame(column: ColumnDef, value: unknown, stored: string | null): boolean {
  const kind = kinds[column.kind];
  if (kind.wire === 'json') return stored !== null && sentText(parseExact(stored)) === sentText(value);
  try {
    const cell = readCell(kind, value);
    if (cell === null || stored === null) return cell === stored;
    return (cell instanceof Uint8Array ? Buffer.from(cell).toString('base64') : String(cell)) === stored;
  } catch (error) {
    if (error instanceof Misfit) return false;
    throw error;
  }
}

/** Fields that no column has: the outermost pointer of each. */
function unstored(table: TableDef, record: unknown): readonly ComparedField[] {
  const paths = table.columns.filter(({ origin }) => origin.kind === 'path').map(pathOf);
  const found: ComparedField[] = [];
  const visit = (value: unknown, pointer: string): void => {
    if (pointer !== '' && paths.includes(pointer)) return;
    const isInside = pointer === '' || paths.some((path) => path.startsWith(`${pointer}/`));
    if (isInside && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [name, field] of Object.entries(value)) visit(field, `${pointer}/${escapePointer(name)}`);
    } else if (!isInside) {
      const sent = value === null ? null : sentText(value);
      found.push({ state: 'not stored', pointer, column: undefined, stored: null, sent, isDecoration: false });
    }
  };
  visit(record, '');
  return found;
}

/** The table that has a field which this one lacks, or the declared reason why none does. */
function whereIs(tables: readonly TableDef[], table: TableDef, pointer: string): string | undefined {
  const { without, rows } = table;
  if (without[pointer] !== undefined) return without[pointer];
  const nested = tables.find(
    (each) =>
      each.rows.kind === 'nested' &&
      each.rows.of === table.name &&
      each.rows.places.some(({ path }) => path === pointer),
  );
  if (nested !== undefined) return `rows of ${nested.name}`;
  const base = rows.kind === 'projection' ? tables.find(({ name }) => name === rows.of) : undefined;
  return base === undefined ? undefined : `see ${base.name}`;
}

function pathOf({ origin }: ColumnDef): string {
  return origin.kind === 'path' ? origin.path : '';
}

/** A value as it was sent, with all digits of numbers. */
function sentText(value: unknown): string {
  return typeof value === 'string' ? value : writeSent(value as SentValue);
}
