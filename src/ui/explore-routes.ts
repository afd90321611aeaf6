import type { Hono } from 'hono';
import * as z from 'zod';
import { realEffects } from '../core/effects.ts';
import { UsageError } from '../core/errors.ts';
import type { ColumnDef } from '../declare/column.ts';
import type { Registry } from '../declare/registry.ts';
import { describeExplanation } from '../explain/describe-row.ts';
import { explainRowIn } from '../explain/explain-row.ts';
import type { Explanation } from '../explain/explanation.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { textOf } from '../sql/row-text.ts';
import { readBalances } from './balance-history.ts';
import { findValue, parseSought, type Read } from './find-value.ts';
import type { Opened, OwnReader } from './own-reader.ts';
import type { QueryRuns } from './query-runs.ts';
import { cellsOf } from './table-routes.ts';
import { readTraceTree } from './trace-tree.ts';
import type { UiEnvironment, UiOptions } from './ui-options.ts';
import type { ExplainedRow, FoundColumn, FoundRows, FoundValue } from './ui-types.ts';
import { valid } from './valid-request.ts';

/** Rows that are shown of a table. */
const MAX_ROWS = 50;

const soughtSchema = z.strictObject({ q: z.string().min(1).max(200) });
const rowsSchema = z.strictObject({ q: z.string().min(1).max(200), table: z.string(), column: z.string() });
const keySchema = z.strictObject({
  table: z.string(),
  key: z.string().max(2000),
  source: z.literal('true').optional(),
});

/** Finds rows by hash, address or block, and says where they are from. */
export function addExploreRoutes(app: Hono<UiEnvironment>, own: OwnReader, runs: QueryRuns, options: UiOptions): void {
  app.get('/api/explore', valid('query', soughtSchema), async (c) => {
    const sought = parseSought(c.req.valid('query').q);
    if (sought === undefined) throw notSought();
    const { registry, ledger } = await own.use(heldBy);
    const found = await runs.withQueries(
      c.req.raw.signal,
      async (read): Promise<FoundValue> => ({
        ...sought,
        friendly: sought.kind === 'address' ? await friendlyForm(read, sought.value) : null,
        places: await findValue(read, registry, ledger, sought),
        trace: sought.kind === 'hash' ? await readTraceTree(read, sought.value) : [],
      }),
    );
    return c.json(found);
  });
  app.get('/api/explore/balances', valid('query', soughtSchema), async (c) => {
    const sought = parseSought(c.req.valid('query').q);
    if (sought?.kind !== 'address') throw notSought();
    const { registry, ledger } = await own.use(heldBy);
    return c.json(
      await runs.withQueries(c.req.raw.signal, (read) => readBalances(read, registry, ledger, sought.value)),
    );
  });
  app.get('/api/explore/rows', valid('query', rowsSchema), async (c) => {
    const { q, table: name, column } = c.req.valid('query');
    const sought = parseSought(q);
    const { registry } = await own.use(async (opened) => opened);
    const table = registry.table(name);
    if (sought === undefined || !table.columns.some((each) => each.name === column)) throw notSought();
    const key = table.key.map((each) => table.columns.findIndex((of) => of.name === each));
    const columns = table.columns.map((each) => quoteName(each.name));
    const value = sought.kind === 'block' ? sought.value : quoteText(sought.value);
    const order = table.sort.map((each) => `${quoteName(each)} DESC`).join(', ') || 'ALL';
    const { rows, columns: types } = await runs.withQueries(c.req.raw.signal, (read) =>
      read(
        `SELECT ${columns.join(', ')} FROM ${quoteName(table.name)} WHERE ${quoteName(column)} = ${value} ORDER BY ${order} LIMIT ${MAX_ROWS}`,
      ),
    );
    const found: FoundRows = {
      columns: types.map((each, at) => ({ ...each, says: saidBy(table.columns[at]) })),
      rows: rows.map(cellsOf),
      key: table.key.map((each, at) => ({ name: each, at: key[at] ?? 0 })),
    };
    return c.json(found);
  });
  // The text of tonlake show.
  app.get('/api/explain', valid('query', keySchema), async (c) => {
    const { table, key, source } = c.req.valid('query');
    const words = key.split('\n');
    const { explanation, registry } = await own.use(async (opened) => ({
      explanation: await explainRowIn(opened.reader, opened.registry, table, words),
      registry: opened.registry,
    }));
    const text = describeExplanation(explanation, words);
    const record = source === undefined ? null : await askSource(explanation, registry, options);
    const explained: ExplainedRow = { text, source: record };
    return c.json(explained);
  });
}

/** What a line about a row can say of a column. */
function saidBy(column: ColumnDef | undefined): FoundColumn['says'] {
  if (column?.unit === 'nanoton') return 'ton';
  switch (column?.kind) {
    case 'timestamp':
      return 'time';
    case 'raw-address':
      return 'address';
    case 'text':
    case 'text-comment':
      return 'text';
    default:
      return undefined;
  }
}

async function heldBy({ reader, registry }: Opened) {
  return { registry, ledger: await reader.ledger() };
}

/** The user-friendly form of a raw address; null for one that has none. */
async function friendlyForm(read: Read, address: string): Promise<string | null> {
  const { rows } = await read(`SELECT friendly_address(${quoteText(address)})`);
  return textOf(rows[0]?.[0]) ?? null;
}

/** The record of the first row as the source sends it now. @throws {UsageError} `no-source` */
async function askSource(
  explanation: Explanation,
  registry: Registry,
  { network, mayAskSource }: UiOptions,
): Promise<ExplainedRow['source']> {
  if (!mayAskSource) {
    throw new UsageError('usage: expected leave to ask the source, got none', {
      code: 'no-source',
      hint: 'start tonlake ui with --allow-source',
    });
  }
  const [row] = explanation.rows;
  if (row === undefined) return null;
  const { readSourceRecord } = await import('../explain/source-record.ts');
  const options = { registry, network, effects: realEffects, waitMs: 0, onRetry: () => undefined };
  const { request, fields } = await readSourceRecord(explanation, row, options);
  return {
    request,
    fields:
      fields?.map(({ column, pointer, state, stored, sent, isDecoration, where }) => ({
        ...{ name: column ?? pointer, state, stored, sent },
        note: isDecoration ? 'computed by the server on each read' : (where ?? null),
      })) ?? null,
  };
}

function notSought(): UsageError {
  return new UsageError('usage: expected an address, a hash or the seqno of a block', {
    code: 'bad-request',
    hint: 'addresses raw or user-friendly, hashes hex or base64',
  });
}
