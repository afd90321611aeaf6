import { requireKnown } from '../core/did-you-mean.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { groupBy } from '../core/group-by.ts';
import { intersectSpans, type Span, unionSpans } from '../core/span.ts';
import { WHOLE } from '../declare/left-out.ts';
import type { Registry } from '../declare/registry.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { trimGrownProcess } from '../sql/freed-memory.ts';
import { type LedgerEntry, openStore, type Store, spansOf } from '../warehouse/index.ts';
import { type LeftOutGap, leftOutGaps } from '../warehouse/query/coverage.ts';
import { readHeaderDays } from '../warehouse/query/header-days.ts';
import { describeLeftOut } from '../warehouse/query/left-out-gaps.ts';
import { knownWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { commitFindings, type DayFindings, failureEntries, failuresTable } from './check-failures.ts';
import { type CheckDef, type CheckPart, loadChecks, withDeclared } from './load-checks.ts';
import { dayReader, entriesOf, hashSelect, readSlices, stampOf } from './mart-inputs.ts';
import { limitedInputs } from './merge-rows.ts';
import { sqlErrorWithin } from './sql-references.ts';

/** Result of a check. */
export interface CheckResult {
  readonly name: string;
  /** The rule, in one sentence. */
  readonly rule: string;
  /** `skipped`: a table or column that it reads was not exported, or a mart was never built. */
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Rows that break the rule. */
  readonly offenders: number;
  /** Days that were read, and `all` for rows of any day; other days are unchanged since they passed. */
  readonly read: readonly string[];
  /** Why it was skipped. */
  readonly reason?: string;
}

export interface CheckOptions {
  /** Checks to run. Default: all. */
  readonly names?: readonly string[] | undefined;
  /** Also reads days that are unchanged since the check passed, and compares keys of different days. */
  readonly all?: boolean | undefined;
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

/** Maximum number of stored offending rows per check and day. */
const MAX_OFFENDERS = 1000;

/**
 * Runs checks over what changed in a warehouse since they last passed, and replaces the earlier rows of the same checks in its table
 * `check_failures`.
 *
 * @throws {UsageError}
 * @throws {MartError} when a select is wrong, with file and line
 * @throws {StoreError} `no-warehouse`; `busy` while another process writes the warehouse
 */
export async function runChecks(warehouse: string, options: CheckOptions = {}): Promise<CheckReport> {
  const { effects = realEffects } = options;
  const { registry, ...known } = await knownWarehouse(warehouse, options);
  const loaded = await loadChecks(registry, options);
  choose(withDeclared(loaded, registry), options.names);
  const store = await openStore({
    ...known,
    effects,
    tables: registry.tables,
    pipelines: registry.pipelines,
    marts: [failuresTable],
    command: 'tonlake test',
  });
  try {
    const chosen = choose(withDeclared(loaded, registry, store.ledger()), options.names);
    const context = await readContext(store, registry, chosen, options.all === true);
    const checks: CheckResult[] = [];
    for (const check of chosen) {
      const result = await runCheck(context, check);
      checks.push(result);
      options.onEvent?.({ event: 'check', ...result });
    }
    for (const [day, found] of context.found) await commitFindings(store, known.network, day, found);
    return { passed: checks.every(({ status }) => status !== 'failed'), checks };
  } finally {
    await store.close();
  }
}

function choose(checks: readonly CheckDef[], names: readonly string[] | undefined): readonly CheckDef[] {
  if (names === undefined || names.length === 0) return checks;
  const all = checks.map(({ name }) => name);
  for (const name of names) requireKnown('a check', name, all);
  return checks.filter(({ name }) => names.includes(name));
}

interface CheckContext {
  readonly store: Store;
  readonly registry: Registry;
  /** Tables with days. */
  readonly dated: ReadonlySet<string>;
  readonly daysOf: ReturnType<typeof dayReader>;
  /** Blocks of each day, if a check reads the ledger. */
  readonly days: ReadonlyMap<string, Span>;
  /** Earlier findings and stamps. */
  readonly before: ReadonlyMap<string | undefined, LedgerEntry>;
  /** New findings, by day and check. */
  readonly found: Map<string | undefined, Map<string, DayFindings>>;
  readonly isAll: boolean;
}

async function readContext(store: Store, registry: Registry, checks: readonly CheckDef[], isAll: boolean) {
  const readsCommits = checks.some(({ parts }) => parts.some((part) => part.readsCommits));
  return {
    store,
    registry,
    isAll,
    dated: new Set(registry.tables.filter(({ time }) => time !== undefined).map(({ name }) => name)),
    daysOf: dayReader(store),
    days: readsCommits ? await readHeaderDays(store.query, store.ledger(), registry) : new Map<string, Span>(),
    before: failureEntries(store),
    found: new Map<string | undefined, Map<string, DayFindings>>(),
  } satisfies CheckContext;
}

/** Rows to check: of a day, or of any day. */
interface CheckWork {
  readonly day: string | undefined;
  /** Stamps to store if it passes. */
  readonly stamps: readonly { readonly day: string | undefined; readonly seen: string }[];
  readonly sql: string;
}

async function runCheck(context: CheckContext, { name, rule, parts }: CheckDef): Promise<CheckResult> {
  const reason = parts.map((part) => whySkipped(context, part)).find((each) => each !== undefined);
  const note = (day: string | undefined, findings: DayFindings): void => {
    const own = context.found.get(day) ?? new Map<string, DayFindings>();
    const { offenders, passed } = own.get(name) ?? findings;
    const both = own.has(name) ? [...offenders, ...findings.offenders] : offenders;
    context.found.set(
      day,
      own.set(name, { offenders: both, passed: passed === undefined ? undefined : findings.passed }),
    );
  };
  if (reason !== undefined) {
    for (const day of context.before.keys()) note(day, { offenders: [], passed: undefined });
    return { name, rule, status: 'skipped', offenders: 0, read: [], reason };
  }
  let total = 0;
  const read: string[] = [];
  for (const part of parts) {
    for (const { day, stamps, sql } of await planWork(context, name, part, note)) {
      await trimGrownProcess();
      const { count, offenders } = await offendersOf(context.store, part, sql);
      total += count;
      read.push(day ?? 'all');
      if (count > 0) note(day, { offenders, passed: undefined });
      else for (const stamp of stamps) note(stamp.day, { offenders: [], passed: stamp.seen });
    }
  }
  return { name, rule, status: total === 0 ? 'passed' : 'failed', offenders: total, read: [...new Set(read)].sort() };
}

/** Why a check cannot be run; undefined if it can. */
function whySkipped({ store, registry }: CheckContext, { reads, inputs, optional }: CheckPart): string | undefined {
  const ledger = store.ledger();
  // Nulls in place of columns that were not exported would make a check pass or fail without reason.
  const isOptional = ({ table, columns }: LeftOutGap): boolean => columns.includes(WHOLE) && optional.includes(table);
  const gaps = leftOutGaps(ledger, registry, reads).filter((gap) => !isOptional(gap));
  if (gaps.length > 0) return gaps.map(describeLeftOut).join('; ');
  const lost = inputs.find((input) => !optional.includes(input) && entriesOf(ledger, input).length === 0);
  return lost === undefined ? undefined : `the warehouse does not have ${lost}`;
}

/** Plans which rows a check reads again. @param note called for days that have no rows any more */
async function planWork(
  context: CheckContext,
  name: string,
  part: CheckPart,
  note: (day: string | undefined, findings: DayFindings) => void,
): Promise<readonly CheckWork[]> {
  const { store, dated, before, isAll } = context;
  if (part.scope === 'rows') return planRows(context, name, part);
  const isDaily = part.scope === 'day';
  const slices = await readSlices(store, { inputs: part.inputs, isDaily }, dated, context.daysOf);
  const commits = part.readsCommits ? committedSpans(store.ledger()) : undefined;
  const select = hashSelect(part.sql, part.macros);
  const stamps = slices.map((slice) => {
    const more = commits === undefined ? [] : [spansWithin(commits, context.days.get(slice.date ?? ''))];
    return { day: slice.date, seen: stampOf(select, slice, ...more) };
  });
  if (isDaily) {
    const days = new Set(stamps.map(({ day }) => day));
    for (const day of before.keys()) {
      if (day !== undefined && !days.has(day)) note(day, { offenders: [], passed: undefined });
    }
  }
  // Findings across days remain until all days are compared again.
  const anyDay = before.get(undefined);
  const hasFound = anyDay?.tables[failuresTable.name]?.rows !== 0 && anyDay?.mart?.passed?.[name] === undefined;
  if (part.acrossDays && (isAll || (anyDay !== undefined && hasFound)))
    return [{ day: undefined, stamps, sql: part.sql }];
  return stamps
    .filter(({ day, seen }) => isAll || before.get(day)?.mart?.passed?.[name] !== seen)
    .map((stamp) => {
      const tables = stamp.day === undefined ? [] : part.inputs.filter((table) => dated.has(table));
      const where = `block_date = DATE ${quoteText(stamp.day ?? '')}`;
      return {
        day: stamp.day,
        stamps: [stamp],
        sql: limitTo(
          part.sql,
          tables.map((table) => [table, where]),
        ),
      };
    });
}

/** Blocks by pipeline, verdict, proof and scope; merges do not change them. */
type CommittedSpans = readonly (readonly [kind: string, spans: readonly Span[]])[];

function committedSpans(ledger: readonly LedgerEntry[]): CommittedSpans {
  const kinds = groupBy(
    ledger.filter(({ mart }) => mart === undefined),
    ({ pipeline, verdict, proof, scope }) => JSON.stringify([pipeline, verdict, proof, scope]),
  );
  return [...kinds]
    .map(([kind, entries]) => [kind, unionSpans(entries.flatMap(spansOf))] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The spans within a day; all if its blocks are unknown. */
function spansWithin(commits: CommittedSpans, blocks: Span | undefined): CommittedSpans {
  if (blocks === undefined) return commits;
  return commits
    .map(([kind, spans]) => [kind, intersectSpans(spans, [blocks])] as const)
    .filter(([, spans]) => spans.length > 0);
}

/** Rows of new entries, and rows that were read at the same time or later: a key with a read time cannot occur in earlier rows. */
async function planRows({ store, registry, before, isAll }: CheckContext, name: string, part: CheckPart) {
  const seen = Number(isAll ? 0 : (before.get(undefined)?.mart?.passed?.[name] ?? 0));
  const ledger = store.ledger();
  const parts: (readonly [string, string])[] = [];
  let hasNew = false;
  for (const table of registry.tables.filter((each) => part.inputs.includes(each.name))) {
    const fresh = entriesOf(ledger, table.name).filter(({ copies, number }) => (copies ?? number) > seen);
    hasNew ||= fresh.length > 0;
    const readAt = table.key.find((column) => column.endsWith('_at') && column.startsWith('_'));
    if (fresh.length === 0) parts.push([table.name, 'false']);
    else if (readAt !== undefined && seen > 0) {
      const { rows } = await store.query(`SELECT min(${quoteName(readAt)}) FROM (${store.rows.select(table, fresh)})`);
      parts.push([table.name, `${quoteName(readAt)} >= ${String(rows[0]?.[0] ?? 0)}`]);
    }
  }
  if (!hasNew) return [];
  const stamps = [{ day: undefined, seen: String(ledger.at(-1)?.number ?? 0) }];
  return [{ day: undefined, stamps, sql: limitTo(part.sql, parts) }];
}

/** Limits a select to some rows of its tables. */
function limitTo(sql: string, parts: readonly (readonly [table: string, where: string])[]): string {
  return parts.length === 0 ? sql : `WITH ${limitedInputs(parts).join(',\n')}\nSELECT * FROM (\n${sql}\n)`;
}

async function offendersOf(store: Store, { path }: CheckPart, sql: string) {
  const select = `SELECT count(*) OVER () AS total, to_json(offender)::VARCHAR AS row_json FROM (\n${sql}\n) AS offender
    ORDER BY row_json LIMIT ${MAX_OFFENDERS}`;
  const { rows } = await store.query(select).catch((error: unknown) => {
    throw sqlErrorWithin({ path }, error);
  });
  return { count: Number(rows[0]?.[0] ?? 0), offenders: rows.map(([, row]) => String(row)) };
}
