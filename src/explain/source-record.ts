import { SourceError, UsageError } from '../core/errors.ts';
import { kinds } from '../declare/kind.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { compactJson } from '../decode/json-text.ts';
import { Misfit, parseExact, readCell, valueAt } from '../decode/read-cell.ts';
import { recordsIn } from '../decode/reshape.ts';
import type { Answer } from '../http/request.ts';
import { openSession, type SessionOptions } from '../http/session.ts';
import { compareFields } from './compare-fields.ts';
import type { Explanation, RowExplanation, SourceRecord } from './explanation.ts';
import { baseOf, recordRequest } from './record-request.ts';

/** Maximum number of pages that are searched for a record. */
const MOST_PAGES = 20;

type Values = RowExplanation['values'];

export interface SourceRecordOptions extends Pick<SessionOptions, 'effects' | 'rps' | 'waitMs' | 'onRetry' | 'env'> {
  /** Default: the network of the warehouse. */
  readonly network?: string | undefined;
  readonly registry: Registry;
}

/**
 * Requests the record of an explained row again, and compares it field by field. The record is read from its JSON, without the decoder
 * that made the row.
 *
 * @throws {UsageError} `no-record` for a mart, and for rows that the source cannot be asked for; {SourceError}
 */
export async function readSourceRecord(
  explanation: Explanation,
  row: RowExplanation,
  options: SourceRecordOptions,
): Promise<SourceRecord> {
  const { registry, network = explanation.network } = options;
  const { pipeline, table } = recordTable(registry, explanation);
  const base = baseOf(pipeline, table);
  const request = recordRequest(pipeline, table, row);
  const leftOut = row.entry.without?.[table.name];
  const session = await openSession({ ...options, network, priority: 'interactive', command: 'tonlake show' });
  try {
    let searched = 0;
    let first: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const answer = await session.source.fetch(request.at(searched), (got) => got);
      first ??= answer.request;
      const records = recordsOf(pipeline, base, answer);
      searched += records.length;
      const found = records
        .flatMap((record) => objectsOf(table, base, record))
        .find((each) => isRow(table, each, row.values));
      if (found !== undefined)
        return {
          request: answer.request,
          searched,
          fields: compareFields(pipeline, table, found, row.values, leftOut),
        };
      if (request.limit === undefined || records.length < request.limit) break;
    }
    return { request: first ?? '', searched, fields: undefined };
  } finally {
    await session.close();
  }
}

function recordTable(registry: Registry, { table, pipeline }: Explanation) {
  if (pipeline !== undefined) return { pipeline: registry.pipeline(pipeline), table: registry.table(table) };
  throw new UsageError(`usage: expected a table whose records the source sends, got ${table}`, {
    code: 'no-record',
    hint: 'leave out --live: tonlake makes its rows itself',
  });
}

function recordsOf(pipeline: PipelineDef, { rows }: TableDef, { status, body }: Answer): readonly unknown[] {
  if (rows.kind !== 'records' || status === 404) return [];
  const records = recordsIn(rows.path, rows.shape, parseExact(compactJson(Buffer.from(body).toString())));
  if (Array.isArray(records)) return records;
  throw new SourceError(`source ${pipeline.name}: expected a list at ${rows.path}, got something else`, {
    code: 'not-an-answer',
  });
}

/** An object that can be a row, the record around it, and the label of its place there. */
interface Candidate {
  readonly record: unknown;
  readonly parent: unknown;
  readonly base: TableDef;
  readonly label: string;
}

function objectsOf(table: TableDef, base: TableDef, record: unknown): readonly Candidate[] {
  if (table.rows.kind !== 'nested') return [{ record, parent: undefined, base, label: '' }];
  return table.rows.places.flatMap(({ path, count, label }) => {
    const found = valueAt(record, path);
    const objects = count === 'many' && Array.isArray(found) ? found : [found];
    return objects.flatMap((each) =>
      typeof each === 'object' && each !== null ? [{ record: each, parent: record, base, label }] : [],
    );
  });
}

/** True if an object has the key of a row; properties of the request are the same for all. */
function isRow(table: TableDef, candidate: Candidate, values: Values): boolean {
  return table.key.every((name) => {
    const column = table.columns.find((each) => each.name === name);
    const wanted = values[name] ?? null;
    switch (column?.origin.kind) {
      case 'path':
        return textAt(candidate.record, column) === wanted;
      case 'parent': {
        const { origin } = column;
        const of = candidate.base.columns.find((each) => each.name === origin.column);
        return of?.origin.kind !== 'path' || textAt(candidate.parent, of) === wanted;
      }
      case 'place':
        return candidate.label === wanted;
      default:
        return true;
    }
  });
}

function textAt(record: unknown, { kind, origin }: TableDef['columns'][number]): string | null {
  const value = origin.kind === 'path' ? valueAt(record, origin.path) : undefined;
  if (value === null || value === undefined) return null;
  try {
    const cell = readCell(kinds[kind], value);
    return cell === null ? null : String(cell);
  } catch (error) {
    if (error instanceof Misfit) return null;
    throw error;
  }
}
