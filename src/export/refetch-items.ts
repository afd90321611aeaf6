import * as z from 'zod';
import { parseAnswer } from '../chain/index-ends.ts';
import type { Span } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Given } from '../decode/table-rows.ts';
import { WordsColumn } from '../decode/typed-columns.ts';
import type { SourceRequest } from '../http/request.ts';
import type { Pages } from './list-pages.ts';
import type { Fault } from './list-proof.ts';
import type { ListContext } from './list-run.ts';
import { fixedQuery, PAGE_ROWS } from './page-request.ts';

/** How a list is asked for single things. Batches are small where rows are large. */
const ITEMS: Readonly<Record<string, { readonly parameter: string; readonly batch: number }>> = {
  traces: { parameter: 'trace_id', batch: 20 },
  actions: { parameter: 'trace_id', batch: 50 },
  message_links: { parameter: 'msg_hash', batch: 100 },
};
/** Lists of the contracts that the index has verified, by the list whose rows are theirs. */
const VERIFIED: Readonly<Record<string, { readonly path: string; readonly list: string }>> = {
  jetton_transfers: { path: '/jetton/wallets', list: 'jetton_wallets' },
  jetton_burns: { path: '/jetton/wallets', list: 'jetton_wallets' },
  nft_transfers: { path: '/nft/items', list: 'nft_items' },
};
/** Accounts of one request: what fits a request line everywhere. */
const ACCOUNTS = 100;

/**
 * Asks a list for what is missing in it by itself: by id, or by the accounts that it is about.
 *
 * @returns rows that are new, of the span
 */
export async function fetchItems(
  context: ListContext,
  pages: Pages,
  faults: readonly Fault[],
  rows: Int32Array,
  span: Span,
): Promise<readonly number[]> {
  const { pipeline, report } = context;
  const { parameter, batch } = waysOf(pipeline);
  const items = [...new Set(faults.map(({ item }) => item))].sort();
  const window = windowOf(faults);
  const from = pages.decoder.records;
  report({ event: 'planned', pipeline: pipeline.name, requests: Math.ceil(items.length / batch) });
  for (let at = 0; at < items.length; at += batch) {
    const some = items.slice(at, at + batch);
    for (let offset = 0; ; offset += PAGE_ROWS) {
      const { records } = await context.source.fetch(
        askOf(context, parameter, some, window, offset),
        ({ body, request }) => pages.add(body, request, givenOf(pipeline)),
      );
      if (records < PAGE_ROWS) break;
    }
  }
  return freshRows(context, pages, rows, { from, to: pages.decoder.records }, span);
}

/** Which of some accounts the index lists as verified. */
export async function fetchVerified(
  { source, pipeline, report }: ListContext,
  accounts: readonly string[],
): Promise<ReadonlySet<string>> {
  const verified = new Set<string>();
  const way = VERIFIED[pipeline.name];
  if (way === undefined || accounts.length === 0) return verified;
  report({ event: 'planned', pipeline: pipeline.name, requests: Math.ceil(accounts.length / ACCOUNTS) });
  const answers = z.record(z.string(), z.unknown());
  const listed = z.array(z.object({ address: z.string() }));
  for (let at = 0; at < accounts.length; at += ACCOUNTS) {
    const some = accounts.slice(at, at + ACCOUNTS).map((account) => ['address', account] as const);
    const query = [...some, ['limit', String(PAGE_ROWS)] as const];
    const label = `${pipeline.name} by ${way.list}`;
    const rows = await source.fetch({ path: way.path, query, label }, (answer) =>
      listed.parse(parseAnswer(answers, answer)[way.list] ?? []),
    );
    for (const { address } of rows) verified.add(address.toUpperCase());
  }
  return verified;
}

function waysOf({ name, walk }: PipelineDef): { readonly parameter: string; readonly batch: number } {
  const ties = walk.kind === 'lt' && walk.ties.kind === 'content' ? walk.ties.parameter : '';
  return ITEMS[name] ?? { parameter: ties, batch: ACCOUNTS };
}

/** Of accounts only the rows of these logical times are wanted; ids are enough for themselves. */
function windowOf(faults: readonly Fault[]): readonly (readonly [string, string])[] {
  const lts = faults.flatMap(({ lt }) => lt ?? []);
  const [first] = lts;
  if (first === undefined) return [];
  const least = lts.reduce((a, b) => (b < a ? b : a), first);
  const most = lts.reduce((a, b) => (b > a ? b : a), first);
  return [
    ['start_lt', String(least)],
    ['end_lt', String(most)],
  ];
}

function askOf(
  { pipeline }: ListContext,
  parameter: string,
  items: readonly string[],
  window: readonly (readonly [string, string])[],
  offset: number,
): SourceRequest {
  const skip = offset === 0 ? [] : [['offset', String(offset)] as const];
  return {
    path: pipeline.endpoint.replace(/^GET /, ''),
    query: [
      ...items.map((item) => [parameter, item] as const),
      ...(parameter in { jetton_wallet: 0, item_address: 0 } ? window : []),
      ...[['limit', String(PAGE_ROWS)] as const, ...skip],
      ...fixedQuery(pipeline),
    ],
    label: `${pipeline.name} by ${parameter}`,
  };
}

function givenOf({ parameters }: PipelineDef): Given {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
}

/** Rows that were not there before, each once; of a walk by blocks only those of the span. */
export function freshRows(
  { pipeline }: ListContext,
  pages: Pages,
  rows: Int32Array,
  added: Span,
  span: Span,
): readonly number[] {
  const { walk, tables } = pipeline;
  const keyOf = pages.keyOf(tables[0]?.key ?? []);
  const known = new Set([...rows].map(keyOf));
  const column = walk.kind === 'block' ? pages.decoder.column(walk.column) : undefined;
  const fresh: number[] = [];
  for (let row = added.from; row < added.to; row++) {
    const seqno = column instanceof WordsColumn ? (column.words[row * column.width] as number) : span.from;
    if (seqno < span.from || seqno > span.to || known.has(keyOf(row))) continue;
    known.add(keyOf(row));
    fresh.push(row);
  }
  return fresh;
}
