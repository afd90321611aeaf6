import { formatSpans, type Span, spanSize, totalSize, unionSpans } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { isForgotten, spansIn } from '../warehouse/query/coverage.ts';
import { describeBehind } from '../warehouse/query/query-coverage.ts';
import type { PipelineStatus, WarehouseStatus } from '../warehouse/query/status.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { isMapped } from './coverage-map.ts';
import { isUnderWay, readRuns } from './read-runs.ts';
import type { Overview, PipelineItem, RunItem } from './ui-types.ts';

/** Runs of jobs that are shown beside those under way, and failed ones before them. */
const MAX_RUNS = 6;
const MAX_FAILURES = 3;
/** Maximum number of spans in a command; more are joined to one range. */
const MAX_SPANS = 50;

/** Contents and gaps of a warehouse, and its writer and jobs. */
export async function readOverview({ reader, registry }: OpenWarehouse, status: WarehouseStatus): Promise<Overview> {
  const pipelines = status.pipelines.map((each) => pipelineItem(each, isMapped(registry, each.pipeline)));
  const sum = (of: (item: PipelineItem) => number): number => pipelines.reduce((total, each) => total + of(each), 0);
  const writer = await reader.writer();
  const { network, warehouse } = status;
  return {
    beginCommand: suggest('run', registry.playing('counted').pipeline.name, { network, range: '-1000:', warehouse }),
    head: status.newest ?? null,
    blocks: Math.max(0, ...pipelines.map(({ blocks }) => blocks)),
    ...{ rows: sum(({ rows }) => rows), bytes: sum(({ bytes }) => bytes) },
    missing: totalSize(unionSpans(status.pipelines.flatMap(missingSpans))),
    fills: fillsOf(status),
    quarantinedRecords: status.quarantined,
    pipelines,
    marts: status.marts.map(({ mart, rows, lacking, behind }) => ({
      name: mart,
      rows,
      lacking,
      stale: behind === undefined ? null : describeBehind(behind),
    })),
    writer:
      writer === undefined ? null : { command: writer.command, since: writer.since, isElsewhere: writer.isElsewhere },
    ...notable(await readRuns(reader.path, status.pipelines)),
  };
}

function notable(runs: readonly RunItem[]): Pick<Overview, 'runs' | 'failures'> {
  const over = runs.filter((run) => !isUnderWay(run));
  const failed = over.slice(MAX_RUNS).filter(({ state }) => state === 'failed' || state === 'killed');
  return {
    runs: [...runs.filter(isUnderWay), ...over.slice(0, MAX_RUNS)],
    failures: failed.slice(0, MAX_FAILURES),
  };
}

function pipelineItem(status: PipelineStatus, covers: boolean): PipelineItem {
  const { pipeline, proven, unproven, missing, rows, bytes, lastCommit } = status;
  const blocks = covers ? status.blocks : 0;
  return {
    name: pipeline,
    proof: unproven.length === 0 ? 'proven' : proven.length > 0 ? 'in part' : 'unproven',
    blocks,
    rows: Object.values(rows).reduce((total, count) => total + count, 0),
    bytes,
    missing: totalSize(missingSpans(status)),
    quarantined: totalSize(spansIn(missing, 'quarantined')),
    lastCommit: lastCommit ?? null,
  };
}

/** Missing blocks, except those removed by `forget`. */
function missingSpans({ missing }: PipelineStatus): readonly Span[] {
  return spansIn(missing.filter((part) => !isForgotten(part)));
}

/** Missing blocks, grouped by pipelines that lack the same ones. */
function fillsOf(status: WarehouseStatus): Overview['fills'] {
  const groups = new Map<string, { readonly pipelines: string[]; readonly spans: readonly Span[] }>();
  for (const each of status.pipelines) {
    const { pipeline } = each;
    const spans = missingSpans(each);
    const key = formatSpans(spans);
    if (spans.length > 0) groups.set(key, { spans, pipelines: [...(groups.get(key)?.pipelines ?? []), pipeline] });
  }
  return [...groups.values()].map(({ pipelines, spans }) => ({
    pipelines,
    blocks: totalSize(spans),
    command: fillCommand(pipelines, spans, status) ?? '',
  }));
}

/** The command that fetches some blocks; null for none. */
export function fillCommand(
  pipelines: readonly string[],
  spans: readonly Span[],
  { network, warehouse }: Pick<WarehouseStatus, 'network' | 'warehouse'>,
): string | null {
  if (spans.length === 0) return null;
  const sorted = [...spans].sort((a, b) => a.from - b.from);
  const [first, last] = [sorted[0], sorted.at(-1)];
  // Blocks in between that are in the warehouse are not fetched again.
  const range =
    sorted.length <= MAX_SPANS
      ? sorted.map((span) => (spanSize(span) === 1 ? String(span.from) : formatSpans([span]))).join(',')
      : `${first?.from}:${last?.to}`;
  return suggest('run', pipelines.join(' '), { network, range, warehouse });
}
