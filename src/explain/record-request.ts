import { endpointByPath, endpointOf } from '../api/endpoints.ts';
import { TonlakeError, UsageError } from '../core/errors.ts';
import type { PipelineDef, PipelineOf } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import type { LookupWalk } from '../declare/walk.ts';
import { lookupRequest } from '../export/lookup-request.ts';
import { fixedQuery, PAGE_ROWS, pathOf } from '../export/page-request.ts';
import { nameRequest, type SourceRequest } from '../http/request.ts';
import type { RowExplanation } from './explanation.ts';

type Values = RowExplanation['values'];

/** The requests that read the record of one row now, page by page. */
export interface RecordRequest {
  /** The page from an offset. */
  at(offset: number): SourceRequest;
  /** Rows of a full page; undefined if a single response has all. */
  readonly limit: number | undefined;
}

/**
 * The request for the record of a row: its masterchain block, its logical time, its key, or the list that it is in.
 *
 * @throws {UsageError} `no-record` if the source cannot be asked for it
 */
export function recordRequest(
  pipeline: PipelineDef,
  table: TableDef,
  { values, block }: Pick<RowExplanation, 'values' | 'block'>,
): RecordRequest {
  const base = baseOf(pipeline, table);
  return requestFor(pipeline, base, { values: baseValues(table, base, values), block });
}

/** The request that reads the record of a row, as `GET /blocks?mc_seqno=5&limit=1000`; undefined if there is none. */
export function nameRecordRequest(
  pipeline: PipelineDef,
  table: TableDef,
  row: Pick<RowExplanation, 'values' | 'block'>,
): string | undefined {
  try {
    return nameRequest(recordRequest(pipeline, table, row).at(0));
  } catch (error) {
    if (error instanceof TonlakeError) return undefined;
    throw error;
  }
}

function requestFor(
  pipeline: PipelineDef,
  table: TableDef,
  row: Pick<RowExplanation, 'values' | 'block'>,
): RecordRequest {
  const { walk } = pipeline;
  switch (walk.kind) {
    case 'masterchain':
      return listRequest(
        pipeline,
        [[walk.seqno, required(pipeline, row.block?.toString(), 'masterchain block')]],
        PAGE_ROWS,
        true,
      );
    case 'block':
      return listRequest(
        pipeline,
        [[walk.seqno, required(pipeline, row.block?.toString(), 'masterchain block')]],
        walk.limit,
        true,
      );
    case 'lt': {
      const lt = required(pipeline, row.values[table.sort[0] ?? ''], 'logical time');
      return listRequest(
        pipeline,
        [
          ['start_lt', lt],
          ['end_lt', lt],
        ],
        PAGE_ROWS,
        false,
      );
    }
    case 'snapshot': {
      const { parameters } = endpointFor(pipeline);
      const [key = ''] = table.key;
      const value = row.values[key];
      const isKnown = Object.hasOwn(parameters, key) && typeof value === 'string';
      return listRequest(pipeline, isKnown ? [[key, value]] : [], walk.limit, false);
    }
    case 'lookup':
      return keyRequest({ ...pipeline, walk }, table, row.values);
    case 'ephemeral':
      throw noRecord(pipeline, 'pending data has no history');
    case 'custom':
      throw noRecord(pipeline, `only the code of walk ${walk.name} knows its requests`);
  }
}

/** The table whose rows are the records of the response. */
export function baseOf({ tables }: PipelineDef, table: TableDef): TableDef {
  const { rows } = table;
  if (rows.kind === 'records') return table;
  return tables.find(({ name }) => name === rows.of) ?? table;
}

/** Values of the record that a row is nested in, or a part of. */
function baseValues(table: TableDef, base: TableDef, values: Values): Values {
  if (table === base) return values;
  const pairs = table.columns.flatMap(({ name, origin }) => {
    if (origin.kind === 'parent') return [[origin.column, values[name] ?? null] as const];
    if (origin.kind !== 'path' || table.rows.kind !== 'projection') return [];
    const of = base.columns.find((column) => column.origin.kind === 'path' && column.origin.path === origin.path);
    return of === undefined ? [] : [[of.name, values[name] ?? null] as const];
  });
  return Object.fromEntries(pairs);
}

function listRequest(
  pipeline: PipelineDef,
  filter: readonly (readonly [string, string])[],
  limit: number | undefined,
  isBlock: boolean,
): RecordRequest {
  return {
    limit,
    at: (offset) => ({
      path: pathOf(pipeline),
      query: [
        ...filter,
        ...(limit === undefined ? [] : [['limit', String(limit)] as const]),
        ...(offset === 0 ? [] : [['offset', String(offset)] as const]),
        ...fixedQuery(pipeline),
      ],
      ...(isBlock ? { missing: 'wait' as const } : {}),
      label: `${pipeline.name} ${filter.map(([, value]) => value).join(' ')}`.trim(),
    }),
  };
}

/** The parameters of a lookup are columns of its rows: by the same name, or told by the request. */
function keyRequest(
  pipeline: PipelineOf<LookupWalk>,
  table: TableDef,
  values: RowExplanation['values'],
): RecordRequest {
  const { walk } = pipeline;
  const found = walk.keys.map((name) => {
    const column = table.columns.find(
      (each) => (each.origin.kind === 'ask' && each.origin.name === name) || each.name === name,
    );
    return [name, required(pipeline, values[column?.name ?? ''], name)] as const;
  });
  const key = { text: found.map(([, value]) => value).join(' '), values: Object.fromEntries(found) };
  return { limit: walk.limit, at: (offset) => lookupRequest(endpointFor(pipeline), pipeline, [key], offset) };
}

function endpointFor({ endpoint }: PipelineDef) {
  const [method, path = ''] = endpoint.split(' ');
  return endpointOf(endpointByPath(path, method === 'POST' ? 'POST' : 'GET'));
}

function required(pipeline: PipelineDef, value: string | null | undefined, what: string): string {
  if (typeof value === 'string') return value;
  throw noRecord(pipeline, `the row does not have its ${what}`);
}

function noRecord({ name }: PipelineDef, why: string): UsageError {
  return new UsageError(`usage ${name}: expected a record that the source can be asked for: ${why}`, {
    code: 'no-record',
    hint: 'leave out --live',
  });
}
