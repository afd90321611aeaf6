import { unknownName } from '../core/did-you-mean.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { sha256Of } from '../core/sha256.ts';
import { hullOf } from '../core/span.ts';
import { WHOLE } from '../declare/left-out.ts';
import type { Registry } from '../declare/registry.ts';
import { selectedTable } from '../declare/selected-table.ts';
import { quoteText } from '../sql/canonical-text.ts';
import { headerList, headerText, readSqlFiles, type SqlFile } from '../sql/sql-file.ts';
import { COMMITS, type LedgerEntry, openReader, openStore, type Store, stillForgotten } from '../warehouse/index.ts';
import { EmptyDatabase } from '../warehouse/query/empty-database.ts';
import { FORGOTTEN_DAYS, forgottenDays } from '../warehouse/query/forgotten-days.ts';
import {
  describeLeftOut,
  type LeftOutGap,
  leftOutGaps,
  type Reads,
  readsIn,
} from '../warehouse/query/left-out-gaps.ts';
import { requireSameNetwork } from '../warehouse/query/status.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { commitSelect, martEntries } from './commit-mart.ts';
import { loadMarts, requireSame } from './load-marts.ts';
import { entriesOf } from './mart-inputs.ts';
import { readReferences, requireKnown, sqlError, sqlErrorWithin } from './sql-references.ts';

/** Result of a check. */
export interface CheckResult {
  readonly name: string;
  /** The rule, in one sentence. */
  readonly rule: string;
  /** `skipped`: a table or column that it reads was not exported, or a mart was never built. */
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Rows that break the rule. */
  readonly offenders: number;
  /** Why it was skipped. */
  readonly reason?: string;
}

export interface CheckOptions {
  /** Checks to run. Default: all. */
  readonly names?: readonly string[] | undefined;
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
  /** Folder of the user's own checks. */
  readonly folder?: string | undefined;
  /** Folder of the user's own marts, which checks may read. */
  readonly marts?: string | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  readonly onEvent?: ((event: { readonly event: 'check' } & CheckResult) => void) | undefined;
}

export interface CheckReport {
  readonly passed: boolean;
  readonly checks: readonly CheckResult[];
}

/** A select that returns rows which break a rule. */
export interface CheckDef {
  readonly name: string;
  readonly file: SqlFile;
  readonly rule: string;
  /** Required tables and marts; without them the check is skipped. */
  readonly inputs: readonly string[];
  /** Columns of declared tables that it reads. */
  readonly reads: Reads;
}

/** Maximum number of stored offending rows per check. */
const MAX_OFFENDERS = 1000;

/** The table of offenders. */
export const failuresTable = selectedTable({
  name: 'check_failures',
  grain: 'one row that broke the rule of a check in its last run; at most 1,000 per check',
  key: ['check_name', 'number'],
  isDated: false,
  columns: [
    { name: 'check_name', type: 'VARCHAR', doc: 'check' },
    { name: 'number', type: 'BIGINT', doc: 'number of the row within the check, from 1' },
    { name: 'offender', type: 'VARCHAR', doc: 'row returned by the check, as JSON' },
  ],
});

/** Loads the checks, sorted by name. @throws {MartError} with file and line if a header or a select is wrong */
export async function loadChecks(registry: Registry, options: Pick<CheckOptions, 'folder' | 'marts'> = {}) {
  const marts = await loadMarts(registry, options.marts);
  const known = new Set([
    ...[...registry.tables, ...marts.map(({ table }) => table)].map(({ name }) => name),
    COMMITS,
    FORGOTTEN_DAYS,
  ]);
  const keys = { required: ['rule', 'inputs'], optional: ['optional'] };
  const files = await readSqlFiles('checks', options.folder, keys);
  const scratch = await EmptyDatabase.open(registry);
  for (const { table } of marts) scratch.declare(table);
  try {
    const checks: CheckDef[] = [];
    for (const file of files) {
      const references = await readReferences(scratch.query, file);
      requireKnown(file.path, references, known);
      await scratch.query(`DESCRIBE ${file.sql}`).catch((error: unknown) => {
        throw sqlError(file, error);
      });
      const optional = headerList(file, 'optional');
      const told = references.map(({ name }) => name).filter((name) => ![COMMITS, FORGOTTEN_DAYS].includes(name));
      requireSame(file, [...headerList(file, 'inputs'), ...optional], told);
      const inputs = told.filter((name) => !optional.includes(name));
      const reads = readsIn(registry, await scratch.scans(file.sql));
      checks.push({ name: file.name, file, rule: headerText(file, 'rule'), inputs, reads });
    }
    return checks.sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    scratch.close();
  }
}

/**
 * Runs checks over a warehouse, and replaces the earlier rows of the same checks in its table `check_failures`.
 *
 * @throws {UsageError} `unknown-check`
 * @throws {MartError} when a select is wrong, with file and line
 * @throws {StoreError} `no-warehouse`; `busy` while another process writes the warehouse
 */
export async function runChecks(warehouse: string, options: CheckOptions = {}): Promise<CheckReport> {
  const { effects = realEffects } = options;
  const registry = await warehouseRegistry(warehouse, options.registry);
  const all = await loadChecks(registry, options);
  const chosen = choose(all, options.names);
  const reader = await openReader(warehouse, registry.tables);
  await reader.close();
  requireSameNetwork(reader.path, reader.network, options.network);
  const { path, network, kind } = reader;
  const store = await openStore({
    ...{ path, network, kind, effects, tables: registry.tables, marts: [failuresTable], command: 'tonlake test' },
  });
  try {
    const checks: CheckResult[] = [];
    const found = new Map<string, readonly string[]>();
    for (const check of chosen) {
      const { result, offenders } = await runCheck(store, registry, check);
      checks.push(result);
      found.set(check.name, offenders);
      options.onEvent?.({ event: 'check', ...result });
    }
    await writeFailures(store, network, found);
    return { passed: checks.every(({ status }) => status !== 'failed'), checks };
  } finally {
    await store.close();
  }
}

function choose(checks: readonly CheckDef[], names: readonly string[] | undefined): readonly CheckDef[] {
  if (names === undefined || names.length === 0) return checks;
  const all = checks.map(({ name }) => name);
  const wrong = names.find((name) => !all.includes(name));
  if (wrong !== undefined) throw unknownName('a check', wrong, all, 'unknown-check');
  return checks.filter(({ name }) => names.includes(name));
}

async function runCheck(store: Store, registry: Registry, { name, file, rule, inputs, reads }: CheckDef) {
  const ledger = store.ledger();
  // Nulls in place of columns that were not exported would make a check pass or fail without reason.
  const isOptional = ({ table, columns }: LeftOutGap): boolean => columns.includes(WHOLE) && !inputs.includes(table);
  const gaps = leftOutGaps(ledger, registry, reads).filter((gap) => !isOptional(gap));
  if (gaps.length > 0) {
    const reason = gaps.map(describeLeftOut).join('; ');
    return { result: { name, rule, status: 'skipped', offenders: 0, reason } satisfies CheckResult, offenders: [] };
  }
  const [lost] = inputs.filter((input) => entriesOf(ledger, input).length === 0);
  if (lost !== undefined) {
    const reason = `the warehouse does not have ${lost}`;
    const result: CheckResult = { name, rule, status: 'skipped', offenders: 0, reason };
    return { result, offenders: [] };
  }
  const sql = file.sql.replace(/;\s*$/, '');
  const { rows } = await store
    .query(
      `WITH ${FORGOTTEN_DAYS} AS (${forgottenDays(stillForgotten(store.forgotten(), ledger))})
       SELECT count(*) OVER () AS total, to_json(offender)::VARCHAR AS row_json FROM (\n${sql}\n) AS offender
       ORDER BY row_json LIMIT ${MAX_OFFENDERS}`,
    )
    .catch((error: unknown) => {
      throw sqlErrorWithin(file, error);
    });
  const offenders = Number(rows[0]?.[0] ?? 0);
  const result: CheckResult = { name, rule, status: offenders === 0 ? 'passed' : 'failed', offenders };
  return { result, offenders: rows.map(([, row]) => String(row)) };
}

async function writeFailures(store: Store, network: string, found: ReadonlyMap<string, readonly string[]>) {
  const before = martEntries(store, failuresTable.name);
  const fresh = [...found].flatMap(([check_name, offenders]) =>
    offenders.map((offender, at) => ({ check_name, number: at + 1, offender })),
  );
  const rows = [...(await keptFailures(store, before, found)), ...fresh];
  const text = JSON.stringify(rows);
  const inputs = sha256Of(text, 16);
  if (before[0]?.mart?.inputs === inputs) return;
  const structure = JSON.stringify([{ check_name: 'VARCHAR', number: 'BIGINT', offender: 'VARCHAR' }]);
  const select = `SELECT f.check_name, f.number, f.offender
    FROM (SELECT unnest(from_json(${quoteText(text)}, ${quoteText(structure)})) AS f) ORDER BY ALL`;
  const span = hullOf(store.ledger().map((entry) => entry.span)) ?? { from: 0, to: 0 };
  const stamp = async () => ({ inputs, sealed: true, reads: [], through: store.ledger().at(-1)?.number ?? 0 });
  await commitSelect(store, store.query, { table: failuresTable, select, span, network, stamp, before });
}

/** Earlier rows of checks that were not run now. */
async function keptFailures(store: Store, before: readonly LedgerEntry[], run: ReadonlyMap<string, unknown>) {
  if (before.length === 0) return [];
  const { rows } = await store.query('SELECT check_name, number, offender FROM check_failures ORDER BY ALL');
  return rows
    .map(([name, number, offender]) => {
      return { check_name: String(name), number: Number(number), offender: String(offender) };
    })
    .filter(({ check_name }) => !run.has(check_name));
}
