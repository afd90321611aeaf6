import * as z from 'zod';
import { WRONG_ROWS } from '../audit/page-audit.ts';
import { parseResponse } from '../chain/index-head.ts';
import { AuditError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { doneSpans } from '../warehouse/index.ts';
import { blockBefore } from './block-before.ts';
import { PAGE_ROWS } from './page-request.ts';
import type { WalkContext } from './walk-context.ts';

/** Accounts that can have rows at a logical time with more rows than a page. An account has at most one transaction at a time. */
export async function accountsOfTies(
  context: WalkContext,
  opcode: number,
  span: Span,
  lt: bigint,
): Promise<readonly string[]> {
  return (await storedAccounts(context, opcode, span, lt)) ?? (await listedAccounts(context, opcode, lt));
}

/** Accounts from the transactions in the warehouse; undefined if some of that time may be missing. */
async function storedAccounts(
  { sink, registry }: WalkContext,
  opcode: number,
  { to }: Span,
  lt: bigint,
): Promise<readonly string[] | undefined> {
  const done = doneSpans(sink.ledger(), registry.playing('counted').pipeline.name);
  const run = done.find((each) => each.from <= to && to <= each.to);
  if (run === undefined) return undefined;
  // A shard block with this logical time comes with a masterchain block that ends after it.
  const before = await blockBefore(sink, lt, { from: run.from - 1, to });
  if (before === undefined) return undefined;
  const needed = [{ from: before + 1, to }];
  const { rows } = await sink.query(
    `SELECT DISTINCT account FROM ${sink.rows('counted', needed)}
     JOIN ${sink.rows('messageEnds', needed)} ON tx_hash = hash AND direction = 'in'
     WHERE lt = $lt AND tx_lt = $lt AND opcode = $opcode ORDER BY account`,
    { lt, opcode },
  );
  return rows.map(([account]) => String(account));
}

const listed = z.object({
  transactions: z.array(
    z.object({ account: z.string(), in_msg: z.object({ opcode: z.string().nullish() }).nullable() }),
  ),
});
type Listed = z.infer<typeof listed>['transactions'];

/**
 * Accounts from the source's list of transactions, which has a total order: the first and the last page, and all pages if these do not
 * overlap.
 */
async function listedAccounts(
  { source, pipeline }: WalkContext,
  opcode: number,
  lt: bigint,
): Promise<readonly string[]> {
  const found = new Map<string, boolean>();
  /** Offsets of pages by their first account. */
  const firsts = new Map<string, number>();
  const fetchPage = async (sort: 'asc' | 'desc', offset: number): Promise<Listed> => {
    const query = [
      ...[['lt', String(lt)] as const, ['limit', String(PAGE_ROWS)] as const, ['sort', sort] as const],
      ...(offset === 0 ? [] : [['offset', String(offset)] as const]),
    ];
    const label = `${pipeline.name} lt ${lt}`;
    return source.fetch({ path: '/transactions', query, label }, (response) => {
      const page = parseResponse(listed, response).transactions;
      const [first] = page;
      if (sort === 'asc' && first !== undefined) {
        if ((firsts.get(first.account) ?? offset) !== offset) {
          const message = `audit ${label}: expected other rows than in the pages before, got the same again`;
          throw new AuditError(message, { code: WRONG_ROWS, retryable: true });
        }
        firsts.set(first.account, offset);
      }
      return page;
    });
  };
  const take = (page: Listed): boolean => {
    const size = found.size;
    for (const { account, in_msg: message } of page) {
      found.set(account, Number.parseInt(message?.opcode ?? '-1', 16) === opcode);
    }
    return found.size < size + page.length;
  };
  const front = await fetchPage('asc', 0);
  take(front);
  let isWhole = front.length < PAGE_ROWS || take(await fetchPage('desc', 0));
  for (let offset = PAGE_ROWS; !isWhole; offset += PAGE_ROWS) {
    const page = await fetchPage('asc', offset);
    take(page);
    isWhole = page.length < PAGE_ROWS;
  }
  return [...found]
    .filter(([, fits]) => fits)
    .map(([account]) => account)
    .sort();
}
