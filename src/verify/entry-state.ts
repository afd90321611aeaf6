import { rethrowAccessError, shortMessage } from '../core/errors.ts';
import { greatest, least, type Span, shortSpans } from '../core/span.ts';
import { isLeftOut, narrowTable } from '../declare/left-out.ts';
import { isMasterchain } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { spanCondition } from '../sql/span-condition.ts';
import {
  type ColumnBounds,
  type DamagedStore,
  type LedgerEntry,
  measureBy,
  spansOf,
  type TableEntry,
  type TableEvidence,
  type Trust,
} from '../warehouse/index.ts';
import { boundColumn } from './bound-column.ts';
import type { Finding, FindingKind } from './finding.ts';
import { type MeasuredPart, measuredPart, measureParts, recordedBounds } from './measure-entries.ts';

/** State of the rows of one entry. */
export interface EntryState {
  readonly entry: LedgerEntry;
  readonly tables: ReadonlyMap<string, TableState>;
}

export interface TableState {
  readonly trust: Trust;
  /** True if row count, key hash and sums match the ledger. */
  readonly isAsRecorded: boolean;
  /** Paths of the files that differ from the committed ones, or cannot be read. */
  readonly damaged: ReadonlySet<string>;
}

/** A table of an entry whose files were checked. */
interface CheckedTable {
  readonly entry: LedgerEntry;
  readonly name: string;
  readonly part: TableEntry;
  readonly table: TableDef | undefined;
  readonly files: Trust;
  readonly damaged: ReadonlySet<string>;
  /** True if its rows can be read together with those of other entries. */
  readonly isShareable: boolean;
  readonly findings: Finding[];
}

/** Reads the rows of some entries, compares them with the ledger, and reports findings in order of the entries. */
export async function readEntryStates(
  warehouse: DamagedStore,
  registry: Registry,
  entries: readonly LedgerEntry[],
  report: (finding: Finding) => void,
): Promise<readonly EntryState[]> {
  const checked: CheckedTable[] = [];
  for (const entry of entries) {
    for (const [name, part] of Object.entries(entry.tables)) {
      const findings: Finding[] = [];
      const reportFault = reporterOf(entry, name, (finding) => findings.push(finding));
      const declared = registry.tables.find((candidate) => candidate.name === name);
      const table = declared === undefined ? undefined : narrowTable(declared, entry.without);
      const { trust, isShareable, faults } = await warehouse.checkBytes(part, warehouse.database.query);
      for (const { kind, expected, got, file } of faults) reportFault(kind, expected, got, file);
      const damaged = new Set(faults.map(({ file }) => file));
      checked.push({ entry, name, part, table, files: trust, damaged, isShareable, findings });
    }
  }
  const measured: ReadonlyMap<CheckedTable, MeasuredPart> = await measureParts(
    warehouse,
    registry,
    measurable(checked),
  );
  const states: EntryState[] = [];
  for (const entry of entries) {
    const tables = new Map<string, TableState>();
    for (const name of lacking(registry, entry)) {
      tables.set(name, { trust: 'unreadable', isAsRecorded: false, damaged: new Set() });
      reporterOf(entry, name, report)('table-missing', `an entry with table ${name}`, 'one without it');
    }
    for (const own of checked.filter((each) => each.entry === entry)) {
      for (const finding of own.findings) report(finding);
      tables.set(own.name, await readTableState(warehouse, registry, own, measured.get(own), report));
    }
    states.push({ entry, tables });
  }
  return states;
}

/** Tables that can be read together: each of their files belongs to one entry only. */
function measurable(checked: readonly CheckedTable[]): readonly (CheckedTable & { readonly table: TableDef })[] {
  const owners = new Map<string, number>();
  for (const { path } of checked.flatMap(({ part }) => part.files)) owners.set(path, (owners.get(path) ?? 0) + 1);
  return checked.filter(
    (each): each is CheckedTable & { readonly table: TableDef } =>
      each.table !== undefined && each.isShareable && each.part.files.every(({ path }) => owners.get(path) === 1),
  );
}

/** Tables that an entry should have but does not. */
function lacking(registry: Registry, entry: LedgerEntry): readonly string[] {
  if (entry.verdict !== 'accepted') return [];
  const pipeline = registry.pipelines.filter(isMasterchain).find(({ name }) => name === entry.pipeline);
  return (pipeline?.tables ?? [])
    .map(({ name }) => name)
    .filter((name) => entry.tables[name] === undefined && !isLeftOut(entry.without, name));
}

async function readTableState(
  warehouse: DamagedStore,
  registry: Registry,
  { entry, name, part, table, files, damaged }: CheckedTable,
  measured: MeasuredPart | undefined,
  report: (finding: Finding) => void,
): Promise<TableState> {
  const reportFault = reporterOf(entry, name, report);
  if (table === undefined) return { trust: files, isAsRecorded: true, damaged };
  const rows =
    measured ?? (files === 'unreadable' ? undefined : await readRows(warehouse, registry, entry, table, reportFault));
  if (rows === undefined) {
    const all = damaged.size > 0 ? damaged : new Set(part.files.map(({ path }) => path));
    return { trust: 'unreadable', isAsRecorded: false, damaged: all };
  }
  const isAsRecorded = compareEvidence(part, rows.evidence, reportFault) && compareFiles(rows.files, reportFault);
  const isChanged = files === 'plain' && !isAsRecorded;
  return { trust: isChanged ? 'suspect' : files, isAsRecorded, damaged };
}

function reporterOf(entry: LedgerEntry, table: string, report: (finding: Finding) => void): ReportFault {
  const about = { pipeline: entry.pipeline, span: entry.span, entry: entry.number };
  return (kind, expected, got, file) => report({ ...about, kind, table, file, expected, got });
}

type ReportFault = (kind: FindingKind, expected: string, got: string, file?: string) => void;

/** Measures rows; undefined if they cannot be read or lie outside the entry's spans. */
async function readRows(
  warehouse: DamagedStore,
  registry: Registry,
  entry: LedgerEntry,
  table: TableDef,
  reportFault: ReportFault,
): Promise<MeasuredPart | undefined> {
  try {
    const column = boundColumn(registry, table);
    const { sql, by, ownerOf } = warehouse.selectEach(table, [entry]);
    const relation = column === undefined ? `(${sql})` : markOutside(sql, quoteName(column), spansOf(entry));
    const outside = column === undefined ? [] : aggregatesOutside(quoteName(column));
    const bounded = recordedBounds(table, [entry]);
    const parts = await measureBy(warehouse.database.query, table, { relation, by, more: outside, bounded });
    const count = parts.reduce((sum, { more }) => sum + Number(more[0] ?? 0), 0);
    if (count === 0) return measuredPart(table, parts, ownerOf);
    const seqnos = parts
      .flatMap(({ more }) => more.slice(1))
      .flatMap((value) => (value === null ? [] : [Number(value)]));
    const found = seqnos.length === 0 ? 'no block' : `${least(seqnos)}:${greatest(seqnos)}`;
    reportFault('rows-outside', `rows of ${shortSpans(spansOf(entry))} only`, `${count} of ${found}`);
  } catch (error) {
    rethrowAccessError(error);
    reportFault('file-unreadable', 'rows that can be read', shortMessage(error));
  }
  return undefined;
}

/** SQL after FROM: the rows of a select with `_is_outside`, true for a row outside these spans. */
function markOutside(select: string, seqno: string, spans: readonly Span[]): string {
  return `(SELECT *, (${spanCondition(seqno, spans)}) IS NOT TRUE AS _is_outside FROM (${select}))`;
}

/** SQL for the count, first and last block of the rows outside. */
function aggregatesOutside(seqno: string): readonly string[] {
  return ['count(*)', `min(${seqno})`, `max(${seqno})`].map((each) => `${each} FILTER (_is_outside)`);
}

function compareEvidence(recorded: TableEvidence, found: TableEvidence, reportFault: ReportFault): boolean {
  const expected = describeEvidence(recorded);
  const got = describeEvidence(found);
  const [key] = Object.keys({ ...expected, ...got }).filter((name) => expected[name] !== got[name]);
  if (key === undefined) return true;
  reportFault('rows-changed', `${key} ${expected[key] ?? 'absent'} as in the ledger`, got[key] ?? 'none');
  return false;
}

/** Compares each file with the counts and bounds in its entry. */
function compareFiles(files: MeasuredPart['files'], reportFault: ReportFault): boolean {
  let isAsRecorded = true;
  for (const { file, rows, bounds } of files) {
    const all: readonly (readonly [string, string])[] = [
      [`${file.rows} rows`, `${rows} rows`],
      ...Object.entries(file.bounds).map(([name, recorded]) => {
        return [describeBounds(name, recorded), describeBounds(name, bounds[name])] as const;
      }),
    ];
    const wrong = all.find(([expected, got]) => expected !== got);
    if (wrong === undefined) continue;
    isAsRecorded = false;
    reportFault('rows-changed', `${wrong[0]} as in the ledger`, wrong[1], file.path);
  }
  return isAsRecorded;
}

/** `lt from 3 to 7, 2 nulls`. */
function describeBounds(name: string, bounds: ColumnBounds | undefined): string {
  if (bounds === undefined) return `no column ${name}`;
  const [least, greatest, nulls] = bounds;
  return `${name} from ${least} to ${greatest}, ${nulls} nulls`;
}

/** False if either is absent. */
export function isSameEvidence(a: TableEvidence | undefined, b: TableEvidence | undefined): boolean {
  const [left, right] = [a, b].map((each) => each && Object.entries(describeEvidence(each)).sort());
  return left !== undefined && JSON.stringify(left) === JSON.stringify(right);
}

function describeEvidence({ rows, keyHash, sums }: TableEvidence): Readonly<Record<string, string>> {
  return {
    'row count': String(rows),
    'hash of keys': keyHash,
    ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [`sum of ${name}`, sum])),
  };
}
