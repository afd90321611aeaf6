import { type DaySpan, isFullDay, readDaySpans } from '../chain/day-spans.ts';
import { parseRange, resolveRange } from '../chain/range.ts';
import { warehouseTimes, warehouseToday } from '../chain/warehouse-times.ts';
import { realEffects } from '../core/effects.ts';
import { usage } from '../core/errors.ts';
import { formatSpans, type Span, subtractSpans, unionSpans } from '../core/span.ts';
import { coversBlocks } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { Query } from '../sql/query-result.ts';
import { type DamagedStore, doneSpans, type LedgerEntry, type Reader, spansOf } from '../warehouse/index.ts';
import { readHeaderDays } from '../warehouse/query/header-days.ts';
import type { Finding } from './finding.ts';

/** The headers of a warehouse, by which days and times are resolved. */
export interface StoredChain {
  readonly network: string;
  readonly entries: readonly LedgerEntry[];
  readonly query: Query;
  /** SQL after FROM for the headers. */
  readonly headers: string;
  readonly days: () => Promise<ReadonlyMap<string, DaySpan>>;
}

/** {@link StoredChain} of a reader. */
export async function storedChain(reader: Reader, registry: Registry): Promise<StoredChain> {
  const { network, query } = reader;
  const entries = await reader.ledger();
  return { network, entries, query, headers: '_headers', days: () => readHeaderDays(query, entries, registry) };
}

/** The masterchain blocks of a range. */
export interface StoredRange {
  readonly asked: readonly Span[];
  /** Named days of which the warehouse has only a part. */
  readonly broken: ReadonlyMap<string, Span>;
}

/** Resolves a range by the headers of a warehouse. @throws {UsageError} `not-stored` for a day or time that it does not have */
export async function resolveStored(chain: StoredChain, range: string): Promise<StoredRange> {
  const parts = parseRange(range);
  const namesDays = parts.some(({ from, to }) => [from, to].some(({ kind }) => kind === 'date' || kind === 'days-ago'));
  const days = namesDays ? await chain.days() : new Map<string, DaySpan>();
  const broken = new Map<string, Span>();
  const endOf = (date: string): DaySpan => {
    const day = days.get(date);
    if (day === undefined) {
      throw usage(
        'a day that the warehouse has',
        date,
        days.size === 0 ? 'it has no block headers' : `it has ${formatDays([...days.keys()])}`,
        { code: 'not-stored' },
      );
    }
    if (!isFullDay(day)) broken.set(date, { from: day.from, to: day.to });
    return day;
  };
  const times = warehouseTimes(chain.query, chain.headers);
  const head = async (): Promise<number> => unionSpans(chain.entries.flatMap(spansOf)).at(-1)?.to ?? 0;
  const asked = await resolveRange(parts, {
    ...{ head, ...times, today: warehouseToday(chain.network, realEffects.now, head, times) },
    headIs: 'the last block of the warehouse',
    firstOfDay: async (date) => endOf(date).from,
    lastOfDay: async (date) => endOf(date).to,
  });
  return { asked, broken };
}

/**
 * The masterchain blocks to verify: a requested range, or those of the entries after `since`. Blocks of a requested range that are not done
 * are findings, and so are days of which the warehouse has only a part. Without a range nothing can be missing.
 *
 * @throws {UsageError}
 */
export async function limitTo(
  warehouse: DamagedStore,
  registry: Registry,
  { range, since }: { readonly range?: string | undefined; readonly since: number },
  report: (finding: Finding) => void,
): Promise<readonly Span[]> {
  if (range === undefined)
    return unionSpans(warehouse.entries.filter((entry) => entry.number > since && isOfBlocks(entry)).flatMap(spansOf));
  const headers = headersOf(warehouse, registry);
  const query: Query = (sql, parameters) => warehouse.database.query(sql, parameters);
  const { network, entries } = warehouse;
  const chain = { network, entries, query, headers, days: () => readDaySpans(query, headers) };
  const { asked, broken } = await resolveStored(chain, range);
  for (const [date, span] of broken) {
    report({
      ...{ kind: 'not-done', pipeline: registry.playing('headers').pipeline.name, span, day: date },
      expected: `${date} from its first block to the first of the day after`,
      got: 'only a part of it',
    });
  }
  const walksBlocks = registry.pipelines.filter(coversBlocks);
  for (const { name: pipeline } of walksBlocks) {
    if (!warehouse.entries.some((entry) => entry.pipeline === pipeline)) continue;
    for (const span of subtractSpans(asked, doneSpans(warehouse.entries, pipeline))) {
      report({ kind: 'not-done', pipeline, span, expected: `${formatSpans([span])} done`, got: 'none' });
    }
  }
  return asked;
}

/** False for marts, and for lists without a range of blocks. */
export function isOfBlocks({ mart, span }: LedgerEntry): boolean {
  return mart === undefined && span.to > 0;
}

/** SQL after FROM for the headers in a warehouse. */
export function headersOf(warehouse: DamagedStore, registry: Registry): string {
  const { pipeline, table } = registry.playing('headers');
  const entries = warehouse.entries.filter((entry) => entry.pipeline === pipeline.name);
  return `(${warehouse.select(table, entries)})`;
}

function formatDays(days: readonly string[]): string {
  return days.length === 1 ? `${days[0]}` : `${days[0]} to ${days.at(-1)}`;
}
