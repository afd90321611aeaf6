import { isUtf8 } from 'node:buffer';
import { DecodeError } from '../core/errors.ts';
import type { Shape } from '../declare/table.ts';
import type { Plan } from './decode-plan.ts';
import type { Kernel } from './kernel.ts';

/** A record that does not match its declaration. None of its rows are stored. */
export interface RefusedRecord {
  /** Index in the list of records. */
  readonly index: number;
  /** The record as received. */
  readonly raw: string;
  /** JSON pointer of the field at which the scanner stopped, relative to the record. */
  readonly pointer: string;
  readonly expected: string;
}

export interface ScannedPage {
  /** Number of records in the page, including refused ones. */
  readonly records: number;
  readonly refused: readonly RefusedRecord[];
  /** Number of fields without a column, by table and pointer; fields of the response itself are under `envelope`. */
  readonly unknown: ReadonlyMap<string, number>;
}

/** Numbers of shapes and of scan results in `wasm/kernel`. */
const SHAPES: Readonly<Record<Shape, number>> = { list: 1, one: 2, map: 3, bodies: 4 };
const NOT_JSON = 1;
const NOT_OBJECT = 2;
const NULL_LIST = 3;
const NOT_LIST = 4;

/**
 * Reads a page from its bytes into the columns of the plan's tables.
 *
 * @throws {DecodeError} `not-json` or `null-list` (retryable), or `wrong-shape`; then no row of the page is stored
 */
export function scanPage(kernel: Kernel, plan: Plan, page: Uint8Array): ScannedPage {
  const { calls } = kernel;
  const marks = plan.tables.map(({ address }) => calls.rowsIn(address));
  const bytes = isUtf8(page) ? page : Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(page));
  kernel.give(bytes);
  const { shape } = plan;
  const reshaped = calls.load(bytes.length, shape === undefined ? 0 : SHAPES[shape]);
  if (reshaped === NOT_JSON) throw notJson(plan, page, calls.brokenAt());
  if (reshaped === NOT_OBJECT) throw wrongShape(plan, 'an object');
  if (reshaped !== 0) throw wrongShape(plan, 'a list', '/bodies');
  const outcome = calls.scan(plan.envelope.address, plan.root.address);
  if (outcome === 0)
    return { records: calls.recordCount(), refused: refusedIn(kernel, plan), unknown: unknownIn(kernel, plan) };
  for (const [i, { address }] of plan.tables.entries()) calls.truncateRows(address, marks[i] as number);
  const place = `/${plan.recordsKey}`;
  switch (outcome) {
    case NOT_JSON:
      throw notJson(plan, page, calls.brokenAt());
    case NOT_OBJECT:
      throw wrongShape(plan, 'an object', 'the top');
    case NULL_LIST:
      throw nullList(plan);
    case NOT_LIST:
      throw wrongShape(plan, 'an array, once,', place);
    default:
      throw wrongShape(plan, 'an array', place);
  }
}

function refusedIn(kernel: Kernel, plan: Plan): readonly RefusedRecord[] {
  const { calls } = kernel;
  return Array.from({ length: calls.refusedCount() }, (_, at) => {
    const [index = 0, number = 0, from = 0, length = 0] = kernel.struct(calls.refusedAt(at));
    const key = plan.keys[number];
    return {
      index,
      raw: kernel.text(calls.refusedTexts() + from, length),
      pointer: key?.pointer ?? '',
      expected: key?.expected ?? 'an object whose keys come once',
    };
  });
}

function unknownIn(kernel: Kernel, { tables }: Plan): ReadonlyMap<string, number> {
  const { calls } = kernel;
  const unknown = new Map<string, number>();
  for (let at = 0; at < calls.unknownCount(); at++) {
    const [owner = 0, count = 0, from = 0, length = 0] = kernel.struct(calls.unknownAt(at));
    const pointer = JSON.parse(`"${kernel.text(calls.unknownNames() + from, length)}"`) as string;
    const table = tables.find(({ address }) => address === owner)?.table.name ?? 'envelope';
    const field = `${table} ${pointer}`;
    unknown.set(field, (unknown.get(field) ?? 0) + count);
  }
  return unknown;
}

/** The error for a page that is JSON, but not of the declared shape. `place` is a JSON pointer. */
function wrongShape({ pipeline }: Plan, expected: string, place = ''): DecodeError {
  const at = place === '' ? '' : ` at ${place}`;
  return new DecodeError(`decode ${pipeline.name}: expected ${expected}${at}, got something else`, {
    code: 'wrong-shape',
    hint: 'is this the base URL of a TON Index v3 API?',
  });
}

/** The error for a page that is not JSON; retryable, because it may be truncated. */
function notJson({ pipeline }: Plan, bytes: Uint8Array, brokenAt: number): DecodeError {
  const start = Buffer.from(bytes.subarray(0, 60)).toString('utf8').replace(/\s+/g, ' ');
  return new DecodeError(
    `decode ${pipeline.name}: expected JSON, got ${bytes.length} bytes that are not JSON from byte ${brokenAt} on: ${start}`,
    { code: 'not-json', retryable: true },
  );
}

/** Servers send an empty list for no rows; null is a failed response. */
function nullList({ pipeline, recordsKey }: Plan): DecodeError {
  const message = `decode ${pipeline.name}: expected an array at /${recordsKey}, got null`;
  return new DecodeError(message, { code: 'null-list', retryable: true });
}
