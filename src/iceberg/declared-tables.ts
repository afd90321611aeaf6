import { type DaySpan, isFullDay } from '../chain/day-spans.ts';
import { haveCommon, unionSpans } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import { coveredIn } from '../marts/mart-inputs.ts';
import { type FilesInForce, openReader, type Reader } from '../warehouse/index.ts';
import { feeding, leftOutGaps } from '../warehouse/query/coverage.ts';
import { readHeaderDays } from '../warehouse/query/header-days.ts';
import type { PublishOptions } from './publish-warehouse.ts';
import type { SnapshotCoverage } from './table-metadata.ts';

/**
 * The tables of a registry with their coverage, and the descriptions of mart columns, of which a warehouse has only names and types.
 *
 * @param folder with the user's own marts
 */
export function declaredTables(
  registry: Registry,
  warehouse: string,
  folder?: string,
): Pick<PublishOptions, 'tables' | 'martDocs' | 'coverage'> {
  return {
    tables: registry.tables,
    martDocs: async () => {
      const { loadMarts } = await import('../marts/load-marts.ts');
      const marts = await loadMarts(registry, folder);
      return Object.fromEntries(marts.map(({ name, table }) => [name, table]));
    },
    coverage: async (files) => {
      const days = [...(await readDays(registry, warehouse, files))].filter(([, day]) => isFullDay(day));
      return (table) => coverageOf(registry, files, days, table);
    },
  };
}

/** Opens the warehouse only if its ledger does not have the days. */
async function readDays(registry: Registry, warehouse: string, { ledger }: FilesInForce) {
  let opened: Promise<Reader> | undefined;
  try {
    return await readHeaderDays(
      async (...statement) => {
        opened ??= openReader(warehouse, registry.tables);
        return (await opened).query(...statement);
      },
      ledger,
      registry,
    );
  } finally {
    await (await opened)?.close();
  }
}

const DAY_MS = 86_400_000;

/** `2026-05-01/2026-05-07 2026-05-09/2026-05-09`. */
function daysText(days: readonly string[]): string {
  const numbers = days.map((day) => Date.parse(day) / DAY_MS);
  const textOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
  const runs = unionSpans(numbers.map((day) => ({ from: day, to: day })));
  return runs.map(({ from, to }) => `${textOf(from)}/${textOf(to)}`).join(' ');
}

function coverageOf(
  registry: Registry,
  { ledger, forgotten }: FilesInForce,
  days: readonly (readonly [string, DaySpan])[],
  table: string,
): SnapshotCoverage {
  const pipeline = feeding(registry, table);
  if (pipeline === undefined) return {};
  const spans = days.map(([, span]) => span);
  const covered = coveredIn({ registry, ledger, forgotten }, [pipeline], spans);
  const daysOf = (state: string) => daysText(days.flatMap(([day, span]) => (covered(span) === state ? [day] : [])));
  const gaps = leftOutGaps(ledger, registry, new Map([[table, 'all']]));
  const leftOut = [...new Set(gaps.flatMap(({ columns }) => columns))].sort().map((column) => {
    const own = gaps.filter(({ columns }) => columns.includes(column)).flatMap(({ missing }) => missing);
    return [column, daysText(days.flatMap(([day, span]) => (haveCommon(own, [span]) ? [day] : [])))];
  });
  return {
    'tonlake.coverage': covered(undefined),
    'tonlake.proven-days': daysOf('proven'),
    'tonlake.unproven-days': daysOf('unproven'),
    'tonlake.left-out': JSON.stringify(Object.fromEntries(leftOut)),
  };
}
