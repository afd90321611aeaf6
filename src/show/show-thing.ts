import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import { coversBlocks } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { friendlyForm } from '../sql/friendly-form.ts';
import type { Query } from '../sql/query-result.ts';
import { textOf } from '../sql/row-text.ts';
import { shippedFolder } from '../sql/shipped-queries.ts';
import { type LedgerEntry, spansOf } from '../warehouse/index.ts';
import { type Contents, coverage, readContents, tablesIn } from '../warehouse/query/coverage.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { explainRowIn } from './explain-row.ts';
import type { ExplainedThing } from './explanation.ts';
import { findPlaces } from './find-places.ts';
import type { ShownThing, Thing, ThingFacts, ThingSection, TraceNode } from './shown-thing.ts';
import { parseThing, requireThing } from './thing.ts';

/** Reads the rows about a thing; `sections` is empty if there are none. */
export async function readFacts({ reader, registry }: OpenWarehouse, thing: Thing): Promise<ThingFacts> {
  const { query } = reader;
  const contents = await readContents(reader, registry);
  const filled = tablesIn(contents.ledger);
  const literal = thing.kind === 'block' ? thing.value : quoteText(thing.value);
  // The hash may be a trace id, unless a section finds the trace of its transaction.
  let trace = thing.value;
  const sections: ThingSection[] = [];
  for (const { title, needs, sql } of await loadSections(thing.kind)) {
    if (!needs.every((table) => filled.has(table))) continue;
    // A hash names one thing: the hash of a transaction is not that of a message or block.
    if (thing.kind === 'hash' && sections.length > 0 && sql.includes('$thing')) continue;
    const select = sql.replaceAll('$thing', () => literal).replaceAll('$trace', () => quoteText(trace));
    const { columns, rows } = await query(select);
    if (rows.length === 0) continue;
    const names = columns.map(({ name }) => name);
    trace = textOf(rows[0]?.[names.indexOf('trace_id')]) ?? trace;
    sections.push({
      title,
      tables: needs,
      columns: names,
      rows: rows.map((row) => row.map((value) => textOf(value) ?? null)),
    });
  }
  if (thing.kind === 'block') sections.push(...commitsOf(contents, Number(thing.value)));
  return {
    ...thing,
    friendly: thing.kind === 'address' ? await friendlyForm(query, thing.value, reader.network) : null,
    sections,
    trace: thing.kind === 'hash' ? await readTraceTree(query, registry, trace) : [],
  };
}

export interface ShowInOptions {
  readonly why?: boolean | undefined;
  /** Called with the facts, before the slower search for places. */
  readonly onFacts?: ((facts: ThingFacts) => void) | undefined;
}

/**
 * What an open warehouse knows of the thing that a word names.
 *
 * @throws as {@link thingOf}
 */
export async function showIn(
  opened: OpenWarehouse,
  word: string,
  { why, onFacts }: ShowInOptions,
): Promise<ExplainedThing> {
  const { reader, registry } = opened;
  const thing = await thingOf(reader.query, await reader.ledger(), word);
  const facts = await readFacts(opened, thing);
  onFacts?.(facts);
  const places = [...(await findPlaces(opened, thing, 'indexed')), ...(await findPlaces(opened, thing, 'others'))];
  const shown = { ...facts, places };
  const of = why === true ? rowOf(registry, shown) : undefined;
  return of === undefined ? shown : { ...shown, why: await explainRowIn(reader, registry, of.table, of.key) };
}

/** The state of a block in each pipeline of the warehouse, and the commits that have it. */
function commitsOf(contents: Contents<Registry>, seqno: number): readonly ThingSection[] {
  const { registry, ledger, forgotten } = contents;
  const isOf = (entry: LedgerEntry): boolean => spansOf(entry).some(({ from, to }) => from <= seqno && seqno <= to);
  const names = [...new Set([...ledger, ...forgotten].map(({ pipeline }) => pipeline))];
  const walked = names
    .flatMap((name) => registry.pipelines.find((pipeline) => pipeline.name === name) ?? [])
    .filter(coversBlocks);
  if (walked.every(({ name }) => !ledger.some((entry) => entry.pipeline === name && isOf(entry)))) return [];
  const rows = walked.flatMap((pipeline) => {
    const { unproven, missing } = coverage(contents, pipeline, [{ from: seqno, to: seqno }]);
    const [state = 'proven'] = [
      ...missing.map(({ why }) => `missing (${why})`),
      ...unproven.map(({ why }) => `unproven (${why})`),
    ];
    const own = ledger.filter((entry) => entry.pipeline === pipeline.name && isOf(entry));
    return own.length === 0
      ? [[pipeline.name, state, null, null]]
      : own.map(({ number, committedAt }) => [pipeline.name, state, String(number), committedAt]);
  });
  return [{ title: 'commits', tables: [], columns: ['pipeline', 'state', 'entry', 'committed'], rows }];
}

/**
 * The thing that a word names: an address, a hash, a seqno, or `@name`, a domain that the warehouse has.
 *
 * @throws {UsageError} `bad-request`; {StoreError} for a name that no domain has
 */
export async function thingOf(query: Query, ledger: readonly LedgerEntry[], word: string): Promise<Thing> {
  if (!word.startsWith('@')) return requireThing(word);
  const filled = tablesIn(ledger);
  const name = word.slice(1).toLowerCase();
  for (const { needs, sql } of await loadSections('name')) {
    const absent = needs.find((table) => !filled.has(table));
    if (absent !== undefined) {
      throw usage(
        `a warehouse with ${absent} to find ${word}`,
        'one without',
        `${suggest('run', absent, { range: '-1000:' })} exports them`,
        { code: 'bad-request' },
      );
    }
    const { rows } = await query(sql.replaceAll('$thing', () => quoteText(name)));
    const thing = parseThing(textOf(rows[0]?.[0]) ?? '');
    if (thing !== undefined) return thing;
  }
  throw new StoreError(`store: expected a domain ${name}, ${name}.ton or ${name}.t.me, got none`);
}

/** A row, as `tonlake show TABLE KEY` names it. */
interface RowName {
  readonly table: string;
  readonly key: readonly string[];
}

/** The row that `--why` explains: the shown one if the thing is its key, otherwise the first that has it; undefined if there is none. */
function rowOf(registry: Registry, { kind, value, sections, places }: ShownThing): RowName | undefined {
  if (kind === 'block')
    return { table: registry.playing('headers').table.name, key: ['workchain=-1', `seqno=${value}`] };
  // The hash of a transaction is the id of its trace, too.
  const shown = places.find(({ isKey, table }) => isKey && sections[0]?.tables.includes(table));
  const place = shown ?? places[0];
  return place === undefined ? undefined : { table: place.table, key: [`${place.column}=${value}`] };
}

/** A query about a thing: a file of `sql/show`. */
interface SectionQuery {
  readonly title: string;
  /** Tables that must be in the warehouse. */
  readonly needs: readonly string[];
  /** `$thing` and `$trace` stand for the thing and its trace. */
  readonly sql: string;
}

/** The queries about things of a kind, in the order of the sections; those of `name` find the account of a domain. */
export async function loadSections(kind: Thing['kind'] | 'name'): Promise<readonly SectionQuery[]> {
  const folder = join(shippedFolder('show'), kind);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(files.map(async (file) => parseSection(await readFile(join(folder, file), 'utf8'))));
}

function parseSection(text: string): SectionQuery {
  const [, title = '', needs = '', sql = ''] = /^-- (.+)\n-- needs: (.+)\n([\s\S]+)$/.exec(text) ?? [];
  return { title, needs: needs.split(', '), sql };
}

/** Transactions of a trace that are shown. */
const MAX_TRANSACTIONS = 1000;

/**
 * The transactions of a trace as a tree: the children of a transaction received its messages. A transaction whose parent is not in the
 * warehouse is a root.
 */
async function readTraceTree(query: Query, registry: Registry, trace: string): Promise<readonly TraceNode[]> {
  const table = quoteName(registry.playing('counted').table.name);
  const { rows: transactions } = await query(
    `SELECT hash, account, lt, aborted, ton(total_fees)::VARCHAR, CASE WHEN NOT compute_success
      THEN concat_ws(' ', compute_exit_code, exit_code_name(compute_exit_code)) END, mc_block_seqno FROM ${table}
    WHERE trace_id = ${quoteText(trace)} ORDER BY lt, hash LIMIT ${MAX_TRANSACTIONS}`,
  );
  if (transactions.length === 0) return [];
  const hashes = transactions.map(([each]) => quoteText(String(each))).join(', ');
  const blocks = transactions.map((row) => Number(row[6]));
  // The blocks are for skipping files: DuckDB does not use Bloom filters for a list.
  const { rows: ends } = await query(
    `SELECT tx_hash, direction, msg_hash, ton(value)::VARCHAR, opcode_label(opcode) FROM _message_ends
    WHERE tx_mc_block_seqno BETWEEN ${Math.min(...blocks)} AND ${Math.max(...blocks)} AND tx_hash IN (${hashes})`,
  );
  const senders = new Map(ends.filter(([, way]) => way === 'out').map(([tx, , msg]) => [String(msg), String(tx)]));
  const received = new Map(ends.filter(([, way]) => way === 'in').map((end) => [String(end[0]), end]));
  const nodes = new Map<string, TraceNode & { children: TraceNode[] }>();
  for (const [id, account, lt, aborted, fees, exit] of transactions) {
    const [, , , value, opcode] = received.get(String(id)) ?? [];
    nodes.set(String(id), {
      hash: String(id),
      account: String(account),
      lt: String(lt),
      isAborted: aborted === true,
      ton: textOf(value) ?? null,
      opcode: textOf(opcode) ?? null,
      children: [],
      fees: textOf(fees) ?? '',
      exit: textOf(exit) ?? null,
    });
  }
  const roots: TraceNode[] = [];
  for (const [id, node] of nodes) {
    const sender = senders.get(String(received.get(id)?.[2]));
    const parent = sender === undefined || sender === id ? undefined : nodes.get(sender);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}
