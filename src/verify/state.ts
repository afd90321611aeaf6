import { isLeftOut, narrowTable } from '../declare/left-out.ts';
import { isMasterchain } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import type { Registry } from '../registry.ts';
import { greatest, least, type Span } from '../span.ts';
import { quoteName } from '../store/canonical.ts';
import { hashFile, statIfAny } from '../store/disk.ts';
import { addEvidence, measureWith } from '../store/evidence.ts';
import { steadyPath } from '../store/pinned.ts';
import { readFiles } from '../store/relation.ts';
import type { LedgerEntry, TableEntry, TableEvidence } from '../store/store.ts';
import type { Finding, FindingKind } from './finding.ts';
import { boundColumn, type Held, messageOf } from './held.ts';

/**
 * How far a table's rows of one entry can be trusted by themselves. `proven`: every file has the checksum it was committed
 * with. `plain`: no checksum is known and nothing speaks against them. `suspect`: they can be read, but are not what was
 * committed. `unreadable`: they are gone, torn, or another span's.
 */
export type Trust = 'proven' | 'plain' | 'suspect' | 'unreadable';

/** What the files of one entry tell. */
export interface EntryState {
  readonly entry: LedgerEntry;
  readonly tables: ReadonlyMap<string, TableState>;
}

export interface TableState {
  readonly trust: Trust;
  /** Whether rows, hash of keys and sums are those of the ledger. */
  readonly isAsRecorded: boolean;
}

/** Reads everything that an entry names, and compares it with the entry. */
export async function readEntryState(
  held: Held,
  registry: Registry,
  entry: LedgerEntry,
  report: (finding: Finding) => void,
): Promise<EntryState> {
  const tables = new Map<string, TableState>();
  const pipeline = registry.pipelines.filter(isMasterchain).find(({ name }) => name === entry.pipeline);
  const about = { pipeline: entry.pipeline, span: entry.span, entry: entry.number };
  for (const { name } of entry.verdict === 'sealed' ? (pipeline?.tables ?? []) : []) {
    if (entry.tables[name] !== undefined || isLeftOut(entry.without, name)) continue;
    tables.set(name, { trust: 'unreadable', isAsRecorded: false });
    report({
      ...about,
      kind: 'table-missing',
      table: name,
      expected: `an entry with table ${name}`,
      got: 'one without it',
    });
  }
  for (const [name, part] of Object.entries(entry.tables)) {
    const tell = (kind: FindingKind, expected: string, got: string, file?: string): void =>
      report({ ...about, kind, table: name, file, expected, got });
    const declared = registry.tables.find((candidate) => candidate.name === name);
    const table = declared === undefined ? undefined : narrowTable(declared, entry.without);
    const files = held.kind === 'duckdb' ? 'plain' : await readFileTrust(held, part, tell);
    const rows =
      table === undefined || files === 'unreadable' ? undefined : await readRows(held, registry, entry, table, tell);
    if (table === undefined) tables.set(name, { trust: files, isAsRecorded: true });
    else if (rows === undefined) tables.set(name, { trust: 'unreadable', isAsRecorded: false });
    else {
      const isAsRecorded = compareEvidence(part, rows, tell);
      const isChanged = files === 'plain' && !isAsRecorded;
      tables.set(name, { trust: isChanged ? 'suspect' : files, isAsRecorded });
    }
  }
  return { entry, tables };
}

type Tell = (kind: FindingKind, expected: string, got: string, file?: string) => void;

async function readFileTrust(held: Held, { files }: TableEntry, tell: Tell): Promise<Trust> {
  let trust: Trust = 'proven';
  const lower = (to: Trust): void => {
    const order: readonly Trust[] = ['proven', 'plain', 'suspect', 'unreadable'];
    if (order.indexOf(to) > order.indexOf(trust)) trust = to;
  };
  for (const { path, bytes, rows, sha256 } of files) {
    const absolute = steadyPath(held.path, path);
    const size = (await statIfAny(absolute))?.size;
    if (size === undefined) {
      lower('unreadable');
      tell('file-missing', 'a file that the ledger names', 'none', path);
      continue;
    }
    if (sha256 !== undefined && size === bytes && (await hashFile(absolute)) === sha256) continue;
    lower(sha256 === undefined && size === bytes ? 'plain' : 'suspect');
    if (size !== bytes) tell('file-changed', `${bytes} bytes`, String(size), path);
    else if (sha256 !== undefined) tell('file-changed', `bytes with SHA-256 ${sha256}`, 'others', path);
    try {
      const { rows: found } = await held.database.query(
        `SELECT count(*)::INTEGER, count(COLUMNS(*)) FROM ${readFiles([absolute])}`,
      );
      const count = Number(found[0]?.[0]);
      if (count === rows) continue;
      lower('suspect');
      tell('rows-changed', `${rows} rows`, String(count), path);
    } catch (error) {
      lower('unreadable');
      tell('file-unreadable', 'a readable Parquet file', messageOf(error), path);
    }
  }
  return trust;
}

/** Evidence of the rows as they are; undefined when they cannot be read or are another span's. */
async function readRows(
  held: Held,
  registry: Registry,
  entry: LedgerEntry,
  table: TableDef,
  tell: Tell,
): Promise<TableEvidence | undefined> {
  const relation = `(${held.select(table, [entry])})`;
  try {
    const { from, to } = entry.span;
    const column = boundColumn(registry, table);
    const outside = column === undefined ? [] : aggregatesOutside(quoteName(column), entry.span);
    const parts = await measureWith(held.database.query, table, relation, outside);
    const evidence = addEvidence(
      parts.map((part) => part.evidence),
      table,
    );
    const count = parts.reduce((sum, { more }) => sum + Number(more[0] ?? 0), 0);
    if (count === 0) return evidence;
    const seqnos = parts
      .flatMap(({ more }) => more.slice(1))
      .flatMap((value) => (value === null ? [] : [Number(value)]));
    const found = seqnos.length === 0 ? 'no block' : `${least(seqnos)}:${greatest(seqnos)}`;
    tell('rows-outside', `rows of ${from}:${to} only`, `${count} of ${found}`);
  } catch (error) {
    tell('file-unreadable', 'rows that can be read', messageOf(error));
  }
  return undefined;
}

/** Count, first and last of what lies outside of a span, in SQL. */
function aggregatesOutside(seqno: string, { from, to }: Span): readonly string[] {
  const isOutside = `${seqno} IS NULL OR ${seqno} NOT BETWEEN ${from} AND ${to}`;
  return ['count(*)', `min(${seqno})`, `max(${seqno})`].map((each) => `${each} FILTER (${isOutside})`);
}

function compareEvidence(recorded: TableEvidence, found: TableEvidence, tell: Tell): boolean {
  const expected = describeEvidence(recorded);
  const got = describeEvidence(found);
  const [key] = Object.keys({ ...expected, ...got }).filter((name) => expected[name] !== got[name]);
  if (key === undefined) return true;
  tell('rows-changed', `${key} ${expected[key] ?? 'absent'} as in the ledger`, got[key] ?? 'none');
  return false;
}

export function describeEvidence({ rows, keyHash, sums }: TableEvidence): Readonly<Record<string, string>> {
  return {
    'row count': String(rows),
    'hash of keys': keyHash,
    ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [`sum of ${name}`, sum])),
  };
}
