import type { Hono } from 'hono';
import * as z from 'zod';
import { UsageError } from '../core/errors.ts';
import { describeExplanation } from '../explain/describe-row.ts';
import { explainRowIn } from '../explain/explain-row.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { findValue, parseSought } from './find-value.ts';
import type { OwnReader } from './own-reader.ts';
import type { QueryRuns } from './query-runs.ts';
import { cellsOf } from './table-routes.ts';
import { readTraceTree } from './trace-tree.ts';
import type { UiEnvironment } from './ui-options.ts';
import type { FoundRows, FoundValue } from './ui-types.ts';
import { valid } from './valid-request.ts';

/** Rows that are shown of a table. */
const MAX_ROWS = 50;

const soughtSchema = z.strictObject({ q: z.string().min(1).max(200) });
const rowsSchema = z.strictObject({ q: z.string().min(1).max(200), table: z.string(), column: z.string() });
const keySchema = z.strictObject({ table: z.string(), key: z.string().max(2000) });

/** Finds rows by hash, address or block, and says where they are from. */
export function addExploreRoutes(app: Hono<UiEnvironment>, own: OwnReader, runs: QueryRuns): void {
  app.get('/api/explore', valid('query', soughtSchema), async (c) => {
    const sought = parseSought(c.req.valid('query').q);
    if (sought === undefined) throw notSought();
    const { registry, ledger } = await own.use(async (opened) => ({
      registry: opened.registry,
      ledger: await opened.reader.ledger(),
    }));
    const found = await runs.withQueries(
      c.req.raw.signal,
      async (read): Promise<FoundValue> => ({
        ...sought,
        places: await findValue(read, registry, ledger, sought),
        trace: sought.kind === 'hash' ? await readTraceTree(read, sought.value) : [],
      }),
    );
    return c.json(found);
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
      columns: types,
      rows: rows.map(cellsOf),
      key: table.key.map((each, at) => ({ name: each, at: key[at] ?? 0 })),
    };
    return c.json(found);
  });
  // The text of tonlake explain row.
  app.get('/api/explain', valid('query', keySchema), async (c) => {
    const { table, key } = c.req.valid('query');
    const words = key.split('\n');
    const explanation = await own.use(({ reader, registry }) => explainRowIn(reader, registry, table, words));
    return c.json({ text: describeExplanation(explanation, words) });
  });
}

function notSought(): UsageError {
  return new UsageError('usage: expected an address, a hash or the seqno of a block', {
    code: 'bad-request',
    hint: 'addresses raw or user-friendly, hashes hex or base64',
  });
}
