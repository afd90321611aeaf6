import { type DaySpan, readDaySpans } from '../chain/day-spans.ts';
import { parseRange, resolveRange } from '../chain/range.ts';
import { warehouseTimes, warehouseToday } from '../chain/warehouse-times.ts';
import { realEffects } from '../core/effects.ts';
import { UsageError } from '../core/errors.ts';
import { formatSpans, type Span, subtractSpans, unionSpans } from '../core/span.ts';
import { coversBlocks } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { type DamagedStore, doneSpans, spansOf } from '../warehouse/index.ts';
import type { Finding } from './finding.ts';

/**
 * The masterchain blocks to verify. Blocks of a requested range that are not done are findings; without a range nothing can be missing.
 * A day that is only partly in the warehouse is a finding, too.
 *
 * @throws {UsageError}
 */
export async function limitTo(
  warehouse: DamagedStore,
  registry: Registry,
  range: string | undefined,
  report: (finding: Finding) => void,
): Promise<readonly Span[]> {
  const all = unionSpans(warehouse.entries.flatMap(spansOf));
  if (range === undefined) return all;
  const parts = parseRange(range);
  const namesDays = parts.some(({ from, to }) => [from, to].some(({ kind }) => kind === 'date' || kind === 'days-ago'));
  const days = namesDays ? await daysOf(warehouse, registry) : new Map<string, DaySpan>();
  const broken = new Map<string, DaySpan>();
  const endOf = (date: string): DaySpan => {
    const day = days.get(date);
    if (day === undefined) {
      throw new UsageError(`usage: expected a day that the warehouse has, got ${date}`, {
        code: 'wrong-range',
        hint: days.size === 0 ? 'it has no block headers' : `it has ${formatDays([...days.keys()])}`,
      });
    }
    if (!day.isWhole) broken.set(date, day);
    return day;
  };
  const times = warehouseTimes(
    (sql, parameters) => warehouse.database.query(sql, parameters),
    headersOf(warehouse, registry),
  );
  const head = async (): Promise<number> => all.at(-1)?.to ?? 0;
  const asked = await resolveRange(parts, {
    ...{ head, ...times, today: warehouseToday(warehouse.network, realEffects.now, head, times) },
    headIs: 'the last block of the warehouse',
    firstOfDay: async (date) => endOf(date).from,
    lastOfDay: async (date) => endOf(date).to,
  });
  for (const [date, { from, to }] of broken) {
    report({
      kind: 'not-done',
      pipeline: registry.playing('headers').pipeline.name,
      span: { from, to },
      day: date,
      expected: `${date} from its first block to the first of the day after`,
      got: 'only a part of it',
    });
  }
  const walksBlocks = registry.pipelines.filter(coversBlocks);
  for (const { name: pipeline } of walksBlocks) {
    if (!warehouse.entries.some((entry) => entry.pipeline === pipeline)) continue;
    for (const span of subtractSpans(asked, doneSpans(warehouse.entries, pipeline))) {
      report({
        kind: 'not-done',
        pipeline,
        span,
        expected: `${formatSpans([span])} done`,
        got: 'none; tonlake run fetches it',
      });
    }
  }
  return asked;
}

/** The days of the headers in a warehouse. */
async function daysOf(warehouse: DamagedStore, registry: Registry): Promise<ReadonlyMap<string, DaySpan>> {
  return readDaySpans((sql) => warehouse.database.query(sql), headersOf(warehouse, registry));
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
