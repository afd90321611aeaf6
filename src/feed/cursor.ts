import { z } from 'zod';
import { UsageError } from '../core/errors.ts';
import { formatSpans, type Span } from '../core/span.ts';

/** Blocks by pipeline: ascending, not adjacent. */
export type SpansByPipeline = Readonly<Record<string, readonly Span[]>>;

/** How far a consumer has read a warehouse. */
export interface Cursor {
  readonly network: string;
  /** Ascending. */
  readonly tables: readonly string[];
  /** Entries of the ledger up to this number were handed out, except for `rest`. */
  readonly number: number;
  /** The last entry before those that `rest` comes from; 0 for none. */
  readonly since: number;
  /** Id of the entry `since`, by which another warehouse is told; null if there is none. */
  readonly id: string | null;
  /** Blocks that are still to be handed out. */
  readonly rest: SpansByPipeline;
  /** Blocks that were handed out. */
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

/** A cursor as the text that a consumer stores. */
export function formatCursor(cursor: Cursor): string {
  const { network, tables, number, since, id, rest, delivered } = cursor;
  return JSON.stringify({
    ...{ format: FORMAT, network, tables, number, since, id },
    ...{ rest: formatEach(rest), delivered: formatEach(delivered) },
  });
}

function formatEach(spans: SpansByPipeline): Readonly<Record<string, string>> {
  const filled = Object.entries(spans).filter(([, own]) => own.length > 0);
  return Object.fromEntries(filled.map(([name, own]) => [name, formatSpans(own)]));
}

/** @throws {UsageError} `bad-cursor` if the text is not a cursor */
export function parseCursor(text: string): Cursor {
  try {
    return cursorSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new UsageError(`usage: expected a cursor as follow() gave it, got ${JSON.stringify(text.slice(0, 80))}`, {
      code: 'bad-cursor',
      hint: 'store the cursor as it is; without one, follow() begins at the first row',
      cause,
    });
  }
}
