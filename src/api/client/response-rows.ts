import { DecodeError } from '../../core/errors.ts';
import { type Kind, kinds } from '../../declare/kind.ts';
import type { AnswerShape, Endpoint } from '../endpoint.ts';
import { parseField } from '../field.ts';
import { columnOf } from '../field-path.ts';
import { fieldsOf } from '../records.ts';
import { cellOf, isSentObject, type SentObject, type SentValue, writeSent } from './exact-json.ts';

/** A column of the rows of a response. */
export interface RowColumn {
  readonly name: string;
  /** As in tables; nested values are JSON text. */
  readonly kind: Kind;
}

const KEY = '_key';
const EXTRA = '_extra';

/** The rows of a response: its list, the records of a map with their keys as `_key`, or a single record. */
export function rowsOf(endpoint: Endpoint, answer: SentValue): readonly SentObject[] {
  const label = endpoint.path.slice(1);
  const { answer: shape } = endpoint;
  return valuesOf(shape, answer).map((row) => {
    if (isSentObject(row)) return row;
    throw new DecodeError(`decode ${label}: expected rows that are objects, got ${String(cellOf(row)).slice(0, 80)}`, {
      retryable: true,
    });
  });
}

function valuesOf(shape: AnswerShape, answer: SentValue): readonly SentValue[] {
  switch (shape.kind) {
    case 'rows':
      if (!isSentObject(answer)) return listOf(answer);
      // A 404 without rows has `error` instead; any other object is rejected as an invalid row.
      return Object.hasOwn(answer, shape.rows) || Object.hasOwn(answer, 'error')
        ? listOf(answer[shape.rows])
        : [shape.rows];
    case 'list':
      return listOf(answer);
    case 'map':
      if (!isSentObject(answer)) return listOf(answer);
      return Object.entries(answer).map(([key, row]) => (isSentObject(row) ? { [KEY]: key, ...row } : row));
    case 'record':
      return [answer];
  }
}

/** Missing, null and empty lists are the same; anything else is rejected as an invalid row. */
function listOf(value: SentValue | undefined): readonly SentValue[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** The columns of an endpoint's rows: declared fields in the order of the server, and `_extra` for others. */
export function columnsOf(endpoint: Endpoint): readonly RowColumn[] {
  const { answer } = endpoint;
  const fields = Object.entries(fieldsOf(answer.record) ?? {}).map(([name, text]) => ({
    name,
    kind: kinds[columnOf(parseField(text)).kind],
  }));
  const key = answer.kind === 'map' ? [{ name: KEY, kind: kinds.text }] : [];
  return [...key, ...fields, { name: EXTRA, kind: kinds.json }];
}

/** A row as texts, one per column, null if missing. Numbers keep all digits. */
export function cellsOf(columns: readonly RowColumn[], row: SentObject): readonly (string | null)[] {
  const names = new Set(columns.map(({ name }) => name));
  const extra = Object.entries(row).filter(([name]) => !names.has(name));
  return columns.map(({ name }) => {
    if (name !== EXTRA) return cellOf(Object.hasOwn(row, name) ? row[name] : null);
    return extra.length === 0 ? null : writeSent(Object.fromEntries(extra));
  });
}
