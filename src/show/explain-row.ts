import { usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { blockColumn } from '../declare/block-column.ts';
import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { hashFile } from '../files/disk.ts';
import { isLocalPath } from '../files/local-path.ts';
import { readBuiltTables } from '../marts/built-tables.ts';
import { loadMarts } from '../marts/load-marts.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import type { Query } from '../sql/query-result.ts';
import { textOf } from '../sql/row-text.ts';
import { addEvidence, type LedgerEntry, type Reader, spansOf, type TableFile } from '../warehouse/index.ts';
import { lacksOfTable } from '../warehouse/query/query-coverage.ts';
import { type OpenOptions, openWarehouse } from '../warehouse/query/warehouse-registry.ts';
import type {
  EarlierEntry,
  EntryHistory,
  ExplainedTable,
  Explanation,
  RowExplanation,
  RowFileFacts,
} from './explanation.ts';
import { givenColumns, type KeyPart, keyCondition, parseRowKey } from './row-key.ts';
import { readRowProof } from './row-proof.ts';

/** Maximum number of rows that are explained. */
const MAX_ROWS = 20;

/**
 * Explains the rows of a table or mart that match a key: ledger entry, file and position, when they were read, how they were proven, and
 * what they replaced.
 *
 * @param key values in the order of the key columns, or `column=value`; addresses raw or user-friendly, hashes base64 or hex
 * @throws {UsageError} `unknown-table`; {StoreError} as `openWarehouse`
 */
export async function explainRow(
  warehouse: string,
  table: string,
  key: readonly string[],
  options: Pick<OpenOptions, 'registry' | 'network'> = {},
): Promise<Explanation> {
  const { registry, reader } = await openWarehouse(warehouse, { ...options, isPinned: true });
  try {
    return await explainRowIn(reader, registry, table, key);
  } finally {
    await reader.close();
  }
}

/** Like `explainRow`, for an open warehouse. */
export async function explainRowIn(
  reader: Reader,
  registry: Registry,
  name: string,
  key: readonly string[],
): Promise<Explanation> {
  const explained = await findTable(reader, registry, name);
  const { table, pipeline } = explained;
  const parts = parseRowKey(table, key);
  const { sql, parameters } = keyCondition(parts);
  const each = await reader.selectEach(table);
  const place = [each.by, ...(each.position === undefined ? [] : [each.position])];
  const columns = [...table.columns.map(textSql), ...place.map(quoteName)];
  const newest = table.key.includes('_read_at') ? ['"_read_at" DESC'] : [];
  const order = [...newest, ...table.sort.map(quoteName)].join(', ') || 'ALL';
  const found = await reader.query(
    `SELECT ${columns.join(', ')} FROM (${each.sql}) WHERE ${sql} ORDER BY ${order} LIMIT ${MAX_ROWS + 1}`,
    parameters,
  );
  const ledger = new Map((await reader.ledger()).map((entry) => [entry.number, entry]));
  const history = found.rows.length === 0 ? [] : await reader.log(0);
  const newer = new Map<string, { readonly readAt: string; readonly entry: number }>();
  const rows: RowExplanation[] = [];
  for (const row of found.rows.slice(0, MAX_ROWS)) {
    const values = Object.fromEntries(table.columns.map((column, at) => [column.name, textOf(row[at]) ?? null]));
    const owner = each.ownerOf(row[table.columns.length]);
    const entry = ledger.get(owner?.entry ?? -1);
    // Entries can only be added while the reader is open.
    if (entry === undefined) continue;
    const [path, position] = row.slice(table.columns.length);
    const block = blockOf(explained, values);
    const reading = keyText(table, values);
    rows.push({
      values,
      entry,
      block,
      past: earlierCommits(history, entry, name, block),
      file:
        owner?.file === undefined ? undefined : await readFileFacts(reader, owner.file, String(path), Number(position)),
      proof: await readRowProof(reader, registry, explained, { values, entry }),
      newerReading: newer.get(reading),
    });
    const { _read_at: readAt } = values;
    if (readAt !== undefined && !newer.has(reading)) newer.set(reading, { readAt: readAt ?? '', entry: entry.number });
  }
  return {
    table: name,
    pipeline: pipeline?.name,
    network: reader.network,
    rows,
    isCut: found.rows.length > MAX_ROWS,
    reasons: rows.length > 0 ? [] : await reasonsOf(reader, registry, explained, parts),
  };
}

/** @throws {UsageError} `unknown-table` */
async function findTable(reader: Reader, registry: Registry, name: string): Promise<ExplainedTable> {
  const view = registry.tableOf(name);
  if (view !== undefined && view.name !== name) {
    throw usage(
      'a table or mart',
      `${name}, a view of ${view.name}`,
      `${suggest('show', view.name)} lists its columns, which find a row`,
      { code: 'unknown-table' },
    );
  }
  const marts = view === undefined ? await loadMarts(registry) : [];
  const mart = marts.find((each) => each.name === name);
  if (mart !== undefined) return { table: mart.table, pipeline: undefined, inputs: mart.inputs };
  const built = view === undefined ? await readBuiltTables(reader, registry, marts) : [];
  const own = built.find((each) => each.name === name);
  if (own !== undefined) {
    const entry = (await reader.ledger()).find(({ tables }) => name in tables);
    return { table: own, pipeline: undefined, inputs: entry?.mart?.reads ?? [] };
  }
  const table = registry.table(name);
  return {
    table,
    inputs: [],
    pipeline: registry.pipelines.find(({ tables }) => tables.some((each) => each.name === name)),
  };
}

function textSql(column: ColumnDef): string {
  const name = quoteName(column.name);
  return kinds[column.kind].physical === 'binary' ? `to_base64(${name})` : `${name}::VARCHAR`;
}

/** Equal for all readings of one key. */
function keyText(table: TableDef, values: RowExplanation['values']): string {
  return JSON.stringify(givenColumns(table).map((name) => values[name]));
}

function blockOf({ table, pipeline }: ExplainedTable, values: RowExplanation['values']): number | undefined {
  if (pipeline === undefined) return undefined;
  const block = values[blockColumn(pipeline, table) ?? ''];
  return block === undefined || block === null ? undefined : Number(block);
}

/** Why no row matches: gaps of the table, and quarantined records that contain the key. */
async function reasonsOf(
  reader: Reader,
  registry: Registry,
  { table, pipeline }: ExplainedTable,
  parts: readonly KeyPart[],
): Promise<readonly string[]> {
  const gaps = await lacksOfTable(reader, registry, table.name);
  if (pipeline === undefined) return gaps;
  const searched = parts.flatMap(({ texts }) => texts).filter((text) => text.length >= 10);
  const refused = await Promise.all(
    searched.map((text) =>
      reader.query(
        'SELECT mc_block_seqno::VARCHAR, pointer, reason FROM quarantine WHERE pipeline = $pipeline AND contains(raw, $text)',
        { pipeline: pipeline.name, text },
      ),
    ),
  );
  const named = refused.flatMap(({ rows }) =>
    rows.map(
      ([seqno, pointer, reason]) =>
        `quarantine: a record of block ${String(seqno)} that names it could not be decoded: ${String(reason)} at ${String(pointer)}`,
    ),
  );
  return [...gaps, ...new Set(named)];
}

/**
 * The commits before an entry that wrote rows of the same blocks to a table.
 *
 * @param block the row's masterchain block: only entries that cover it count
 */
function earlierCommits(
  history: readonly LedgerEntry[],
  entry: LedgerEntry,
  table: string,
  block: number | undefined,
): EntryHistory {
  const byId = new Map(history.map((each) => [each.id, each]));
  const covers = (each: LedgerEntry): boolean =>
    block === undefined || spansOf(each).some(({ from, to }) => from <= block && block <= to);
  const before = (of: LedgerEntry): readonly LedgerEntry[] =>
    of.supersedes.flatMap((id) => byId.get(id) ?? []).filter((each) => each.id !== of.id);
  const merges = (of: LedgerEntry): boolean => isMerged(of, before(of), table);
  const mergedFrom: EarlierEntry[] = [];
  const replaced: EarlierEntry[] = [];
  const visit = (of: LedgerEntry, isMerge: boolean): void => {
    const covering = before(of).filter(covers);
    if (!isMerge) replaced.push(...covering.map(numberAndTime));
    for (const each of covering) {
      const isMergeToo = merges(each);
      if (isMerge && !isMergeToo) mergedFrom.push(numberAndTime(each));
      visit(each, isMergeToo);
    }
  };
  visit(entry, merges(entry));
  return { mergedFrom, replaced };
}

function numberAndTime({ number, committedAt }: LedgerEntry): EarlierEntry {
  return { number, committedAt };
}

/** True if an entry has exactly the rows of those that it supersedes, by number and key hash: `compact` copied them. */
function isMerged(entry: LedgerEntry, before: readonly LedgerEntry[], table: string): boolean {
  const own = entry.tables[table];
  const parts = before.flatMap(({ tables }) => tables[table] ?? []);
  if (own === undefined || before.length < 2 || before.length !== entry.supersedes.length) return false;
  const requests = before.reduce((total, each) => total + each.requests, 0);
  const { rows, keyHash } = addEvidence(parts);
  return requests === entry.requests && rows === own.rows && keyHash === own.keyHash;
}

/** Locates a row in its file, and compares the SHA-256 of the file with the ledger. Reads the whole file. @param absolute its path */
async function readFileFacts(
  { query }: Reader,
  { path, rows, bytes, sha256 }: TableFile,
  absolute: string,
  row: number,
): Promise<RowFileFacts> {
  const groups = await query(
    `SELECT row_group_id, any_value(row_group_num_rows) FROM parquet_metadata(${quoteText(absolute)}) GROUP BY ALL ORDER BY ALL`,
  );
  let rowGroup = 0;
  let rowInGroup = row;
  for (const [id, count] of groups.rows) {
    rowGroup = Number(id);
    if (rowInGroup < Number(count)) break;
    rowInGroup -= Number(count);
  }
  return {
    path,
    rows,
    bytes,
    row,
    rowGroup,
    rowInGroup,
    checksum: (await hashOf(query, absolute)) === sha256 ? 'matches' : 'differs',
  };
}

/** DuckDB reads files of object stores. */
async function hashOf(query: Query, path: string): Promise<string> {
  if (isLocalPath(path)) return hashFile(path);
  const { rows } = await query(`SELECT sha256(content) FROM read_blob(${quoteText(path)})`);
  return String(rows[0]?.[0]);
}
