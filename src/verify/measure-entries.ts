import { rethrowAccessError } from '../core/errors.ts';
import { groupBy } from '../core/group-by.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName } from '../sql/canonical-text.ts';
import {
  addEvidence,
  type DamagedStore,
  type FileBounds,
  type LedgerEntry,
  type Measured,
  measureBy,
  type RowOwner,
  type TableEvidence,
  type TableFile,
} from '../warehouse/index.ts';
import { boundColumn } from './bound-column.ts';

/** A table of one entry to measure. */
export interface Part {
  readonly entry: LedgerEntry;
  /** With the columns of the entry's selection. */
  readonly table: TableDef;
}

/** Measured rows of a table of an entry. */
export interface MeasuredPart {
  readonly evidence: TableEvidence;
  /** None in a DuckDB warehouse. */
  readonly files: readonly MeasuredFile[];
}

interface MeasuredFile {
  readonly file: TableFile;
  readonly rows: number;
  readonly bounds: FileBounds;
}

/** Columns of a table whose bounds entries record. */
export function recordedBounds(table: TableDef, entries: readonly LedgerEntry[]): readonly string[] {
  const names = new Set<string>();
  for (const { tables } of entries) {
    for (const { bounds } of tables[table.name]?.files ?? []) for (const name in bounds) names.add(name);
  }
  return table.columns.map(({ name }) => name).filter((name) => names.has(name));
}

/** Combines the measured groups of an entry, by file if rows lie in files. */
export function measuredPart(
  table: TableDef,
  measured: readonly Measured[],
  ownerOf: (value: unknown) => RowOwner | undefined,
): MeasuredPart {
  return {
    evidence: addEvidence(
      measured.map(({ evidence }) => evidence),
      table,
    ),
    files: measured.flatMap(({ by, evidence: { rows }, bounds }) => {
      const file = ownerOf(by)?.file;
      return file === undefined ? [] : [{ file, rows, bounds }];
    }),
  };
}

/**
 * Evidence of the rows of many entries, with one statement per table. Parts that cannot be read, or have rows outside their span, are left
 * out: the caller reads each of them separately to report the details.
 */
export async function measureParts<P extends Part>(
  warehouse: DamagedStore,
  registry: Registry,
  parts: readonly P[],
): Promise<ReadonlyMap<P, MeasuredPart>> {
  // Rows between the spans of an entry are only found when it is read separately.
  const contiguous = parts.filter(({ entry }) => entry.spans === undefined);
  const alike = groupBy(contiguous, ({ table, entry }) => JSON.stringify([table.name, entry.without ?? {}]));
  const found = new Map<P, MeasuredPart>();
  for (const group of alike.values()) {
    for (const [part, measured] of await measureAlike(warehouse, registry, group)) found.set(part, measured);
  }
  return found;
}

type Sound<P extends Part> = readonly (readonly [P, MeasuredPart])[];

/** A statement fails if one file cannot be read; reading in halves finds the sound ones. */
async function measureAlike<P extends Part>(
  warehouse: DamagedStore,
  registry: Registry,
  parts: readonly P[],
): Promise<Sound<P>> {
  // The caller reads a single part and reports the details.
  if (parts.length < 2) return [];
  try {
    return await measureTogether(warehouse, registry, parts);
  } catch (error) {
    rethrowAccessError(error);
    const middle = Math.ceil(parts.length / 2);
    const before = await measureAlike(warehouse, registry, parts.slice(0, middle));
    return [...before, ...(await measureAlike(warehouse, registry, parts.slice(middle)))];
  }
}

async function measureTogether<P extends Part>(
  warehouse: DamagedStore,
  registry: Registry,
  parts: readonly P[],
): Promise<Sound<P>> {
  const [first] = parts;
  if (first === undefined) return [];
  const { table } = first;
  const column = boundColumn(registry, table);
  const entries = parts.map(({ entry }) => entry);
  const { sql, by, ownerOf } = warehouse.selectEach(table, entries);
  const name = quoteName(column ?? '');
  const more = column === undefined ? [] : [`count(*) FILTER (${name} IS NULL)`, `min(${name})`, `max(${name})`];
  const groups = new Map<number, Measured[]>(entries.map(({ number }) => [number, []]));
  const bounded = recordedBounds(table, entries);
  for (const measured of await measureBy(warehouse.database.query, table, {
    relation: `(${sql})`,
    by,
    more,
    bounded,
  })) {
    const own = groups.get(ownerOf(measured.by)?.entry ?? Number.NaN);
    if (own === undefined) throw new Error(`expected rows of the requested entries, got ${String(measured.by)}`);
    own.push(measured);
  }
  return parts.flatMap((part) => {
    const own = groups.get(part.entry.number) ?? [];
    if (column !== undefined && !own.every(({ more: ends }) => isWithin(part, ends))) return [];
    return [[part, measuredPart(table, own, ownerOf)] as const];
  });
}

function isWithin({ entry: { span } }: Part, [unknown, from, to]: readonly unknown[]): boolean {
  return Number(unknown) === 0 && Number(from) >= span.from && Number(to) <= span.to;
}
