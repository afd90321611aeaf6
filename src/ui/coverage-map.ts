import { haveCommon, hullOf, intersectSpans, type Span, spanSize, subtractSpans, totalSize } from '../core/span.ts';
import { coversBlocks } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { isForgotten, spansIn } from '../warehouse/query/coverage.ts';
import { type PipelineStatus, storedSpans } from '../warehouse/query/status.ts';
import type { CoverageCell } from './ui-types.ts';

/** Cells of a map, of nearly equal size: at most `count`, and none smaller than a block. */
export function mapCells(view: Span, count: number, status: PipelineStatus): readonly CoverageCell[] {
  const size = spanSize(view);
  const cells = Math.min(count, size);
  const edge = (at: number): number => view.from + Math.floor((at * size) / cells);
  const { unproven, missing } = status;
  const forgotten = spansIn(missing.filter(isForgotten));
  const kinds = [storedSpans(status), spansIn(missing, 'quarantined'), forgotten, spansIn(unproven)];
  // Clipped to the view, so that cells are compared with few spans.
  const [ours, bad, gone, read] = kinds.map((spans) => intersectSpans([view], spans));
  const extent = extentOf(status);
  return Array.from({ length: cells }, (_, at) => {
    const cell = { from: edge(at), to: edge(at + 1) - 1 };
    const count = totalSize(intersectSpans([cell], ours ?? []));
    const state = ((): CoverageCell['state'] => {
      if (haveCommon([cell], bad ?? [])) return 'quarantined';
      if (count === spanSize(cell)) return haveCommon([cell], read ?? []) ? 'unproven' : 'proven';
      if (subtractSpans([cell], [...(ours ?? []), ...(gone ?? [])]).length === 0) return 'forgotten';
      if (count > 0) return 'part';
      return extent !== undefined && haveCommon([cell], [extent]) ? 'missing' : 'outside';
    })();
    return { ...cell, state, blocks: count };
  });
}

/** From the first to the last block that is in the warehouse or missing. */
export function extentOf(status: PipelineStatus): Span | undefined {
  return hullOf([...storedSpans(status), ...spansIn(status.missing)]);
}

/** True if a map can show a pipeline: its rows belong to blocks, and stay. */
export function isMapped({ pipelines, lasting }: Registry, name: string): boolean {
  const pipeline = pipelines.find((each) => each.name === name);
  return pipeline !== undefined && lasting.includes(name) && coversBlocks(pipeline);
}
