import { type Span, unionSpans } from '../core/span.ts';
import { type LedgerEntry, spansOf } from '../warehouse/index.ts';
import type { Cursor } from './cursor.ts';
import type { FollowedTables } from './followed-tables.ts';

/**
 * A cursor for a warehouse as it is now.
 *
 * @param ledger entries in force
 * @param isAtEnd true to hand out only what is committed later. Default false: everything
 */
export function startAt(
  network: string,
  ledger: readonly LedgerEntry[],
  followed: readonly FollowedTables[],
  tables: readonly string[],
  isAtEnd = false,
): Cursor {
  const last = ledger.at(-1);
  const number = last?.number ?? 0;
  const done = followed.map(({ pipeline: { name } }): readonly [string, readonly Span[]] => {
    const own = ledger.filter((entry) => entry.pipeline === name && entry.verdict === 'accepted' && !entry.scope);
    return [name, unionSpans(own.flatMap(spansOf))];
  });
  const blocks = Object.fromEntries(done);
  return {
    ...{ network, tables: [...tables].sort(), number, since: number, id: last?.id ?? null },
    ...(isAtEnd ? { rest: {}, delivered: blocks } : { rest: blocks, delivered: {} }),
  };
}
