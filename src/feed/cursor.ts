import { z } from 'zod';
import { type UsageError, usage } from '../core/errors.ts';
import { formatSpans, type Span, unionSpans } from '../core/span.ts';
import { FORGOTTEN, type LedgerEntry, spansOf } from '../warehouse/index.ts';
import type { FollowedTables } from './followed-tables.ts';

/** Blocks by pipeline: ascending, not adjacent. */
export type SpansByPipeline = Readonly<Record<string, readonly Span[]>>;

/** The position of a consumer in a warehouse. */
export interface Cursor {
  readonly network: string;
  /** Ascending. */
  readonly tables: readonly string[];
  /** Ledger entries up to this number were delivered, except for `rest`. */
  readonly number: number;
  /** Number of the last entry before those of `rest`; 0 for none. */
  readonly since: number;
  /** Id of the entry `since`, which identifies the warehouse; null if there is none. */
  readonly id: string | null;
  /** Blocks to deliver. */
  readonly rest: SpansByPipeline;
  /** Delivered blocks. */
  readonly delivered: SpansByPipeline;
}

const FORMAT = 1;

/** Spans as text: `1:5,7`. */
export const spansText = z
  .string()
  .regex(/^\d+(:\d+)?(,\d+(:\d+)?)*$/)
  .transform((text): readonly Span[] =>
    text.split(',').map((part) => {
      const [from = '', to = from] = part.split(':');
      return { from: Number(from), to: Number(to) };
    }),
  );

const cursorSchema = z.strictObject({
  format: z.literal(FORMAT),
  network: z.string(),
  tables: z.array(z.string()),
  number: z.number().int().nonnegative(),
  since: z.number().int().nonnegative(),
  id: z.string().nullable(),
  rest: z.record(z.string(), spansText),
  delivered: z.record(z.string(), spansText),
});

/** The text that a consumer stores. */
export function formatCursor(cursor: Cursor): string {
  const { network, tables, number, since, id, rest, delivered } = cursor;
  return JSON.stringify({
    format: FORMAT,
    network,
    tables,
    number,
    since,
    id,
    rest: formatEach(rest),
    delivered: formatEach(delivered),
  });
}

function formatEach(spans: SpansByPipeline): Readonly<Record<string, string>> {
  const filled = Object.entries(spans).filter(([, own]) => own.length > 0);
  return Object.fromEntries(filled.map(([name, own]) => [name, formatSpans(own)]));
}

/** @throws {UsageError} if the text is not a cursor */
export function parseCursor(text: string): Cursor {
  try {
    return cursorSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw usage(
      'a cursor as follow() gave it',
      JSON.stringify(text.slice(0, 80)),
      'store the cursor unchanged; without one, follow() begins at the first row',
      { cause },
    );
  }
}

/**
 * A new cursor.
 *
 * @param ledger entries in force
 * @param isAtEnd true to deliver only later commits. Default false: everything
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
    network,
    tables: [...tables].sort(),
    number,
    since: number,
    id: last?.id ?? null,
    ...(isAtEnd ? { rest: {}, delivered: blocks } : { rest: blocks, delivered: {} }),
  };
}

const HINT = 'a warehouse that was restored, or made again, needs a new cursor: start without one';

/**
 * Requires that the entry at a position is still the same.
 *
 * @param log starts with that entry
 * @throws {UsageError} `foreign-cursor`
 */
export function requireSameLedger(
  log: readonly LedgerEntry[],
  { number, id }: { readonly number: number; readonly id: string | null },
): void {
  if (number === 0) return;
  const found = log.find((entry) => entry.number === number);
  if (found !== undefined && (found.id === id || isFilled(found))) return;
  throw foreignCursor();
}

/** True for the entry by which a repair fills the number of a lost one: it supersedes itself. */
function isFilled({ id, supersedes, scope }: LedgerEntry): boolean {
  return supersedes.includes(id) && scope !== FORGOTTEN;
}

export function foreignCursor(which = ''): UsageError {
  return usage('a cursor of this warehouse', `one of another warehouse${which}`, HINT, { code: 'foreign-cursor' });
}
