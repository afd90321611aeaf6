import { usage } from '../core/errors.ts';
import {
  formatSpans,
  haveCommon,
  intersectSpans,
  type Span,
  shortSpans,
  subtractSpans,
  unionSpans,
} from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { blockColumn } from '../declare/block-column.ts';
import { narrowPipeline } from '../declare/left-out.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { martPipeline } from '../marts/commit-mart.ts';
import type { MartDef } from '../marts/load-marts.ts';
import { pipelinesBehind } from '../marts/mart-inputs.ts';
import { type LedgerEntry, spansOf } from '../warehouse/index.ts';
import type { Lost } from './lost-entries.ts';

/** An entry of which blocks are removed. */
export interface ForgottenEntry {
  readonly pipeline: PipelineDef;
  readonly entry: LedgerEntry;
  readonly removed: readonly Span[];
  /** Empty if the whole entry is removed. */
  readonly remaining: readonly Span[];
}

export interface ForgetPlan {
  readonly entries: readonly ForgottenEntry[];
  /** Blocks of lost entries, which will no longer be expected. */
  readonly lost: readonly { readonly pipeline: PipelineDef; readonly span: Span }[];
  /** Pipelines whose rows were looked up by, or compared with, removed rows. They are kept. */
  readonly staying: readonly string[];
  /** Marts built from removed rows. */
  readonly marts: readonly string[];
}

export interface ForgetPlanOptions {
  /** Active entries. */
  readonly ledger: readonly LedgerEntry[];
  /** Blocks of lost entries that are still missing. */
  readonly lost: readonly Lost[];
  readonly registry: Registry;
  readonly marts: readonly MartDef[];
  readonly names: readonly string[];
  readonly spans: readonly Span[];
}

/**
 * Plans the removal of a range.
 * @throws {UsageError} if remaining rows need the removed ones, or an entry's rows cannot be assigned to blocks
 */
export function planForget(options: ForgetPlanOptions): ForgetPlan {
  const { ledger, registry, names, spans } = options;
  const pipelines = [...new Set(names)].map((name) => requireBlocks(registry.pipeline(name)));
  const entries = pipelines.flatMap((pipeline) =>
    ledger
      .filter((entry) => entry.pipeline === pipeline.name && haveCommon(spansOf(entry), spans))
      .map((entry): ForgottenEntry => {
        const own = spansOf(entry);
        requireSplittable(pipeline, entry, spans);
        return {
          pipeline: narrowPipeline(pipeline, entry.without),
          entry,
          removed: intersectSpans(own, spans),
          remaining: subtractSpans(own, spans),
        };
      }),
  );
  const affected = new Set(entries.map(({ pipeline }) => pipeline.name));
  const removed = unionSpans(entries.flatMap((each) => each.removed));
  const dependents = registry.pipelines.filter(
    ({ name, needs, provenBy }) =>
      !names.includes(name) &&
      [...needs, ...provenBy].some((other) => affected.has(other)) &&
      ledger.some((entry) => entry.pipeline === name && haveCommon(spansOf(entry), removed)),
  );
  requireNotNeeded(dependents, affected, names, spans);
  const marts = options.marts
    .filter((mart) => ledger.some(({ pipeline }) => pipeline === martPipeline(mart.name)))
    .filter((mart) => pipelinesBehind(registry, options.marts, mart).some((name) => affected.has(name)));
  const lost = pipelines.flatMap((pipeline) => {
    const own = options.lost.filter((each) => each.pipeline === pipeline.name).map(({ span }) => span);
    return intersectSpans(unionSpans(own), spans).map((span) => ({ pipeline, span }));
  });
  return { entries, lost, staying: dependents.map(({ name }) => name), marts: marts.map(({ name }) => name) };
}

/** True if rows of a pipeline belong to masterchain blocks. */
export function bindsRows({ walk }: PipelineDef): boolean {
  return walk.kind === 'masterchain' || walk.kind === 'block' || walk.kind === 'lt';
}

function requireBlocks(pipeline: PipelineDef): PipelineDef {
  if (bindsRows(pipeline)) return pipeline;
  throw usage(
    'a pipeline exported by blocks',
    pipeline.name,
    `${suggest('show', pipeline.name)} shows how it is exported`,
  );
}

/** Rows that other rows of blocks need must stay, because they prove these. Lookups need nothing once they are fetched. */
function requireNotNeeded(
  dependents: readonly PipelineDef[],
  affected: ReadonlySet<string>,
  names: readonly string[],
  spans: readonly Span[],
): void {
  const needing = dependents.filter((each) => bindsRows(each) && each.needs.some((other) => affected.has(other)));
  if (needing.length === 0) return;
  const all = [...names, ...needing.map(({ name }) => name)].join(' ');
  throw usage(
    'pipelines that no other pipeline needs',
    `${names.join(', ')}: ${needing.map(({ name }) => name).join(', ')} holds blocks of ${formatSpans(spans)}`,
    suggest('forget', all, { range: formatSpans(spans) }),
  );
}

/** True if these blocks can be removed from an entry: all of its blocks are, or its rows can be assigned to blocks. */
export function isSplittable(pipeline: PipelineDef, entry: LedgerEntry, spans: readonly Span[]): boolean {
  if (subtractSpans(spansOf(entry), spans).length === 0) return true;
  return pipeline.tables.every((table) => blockColumn(pipeline, table) !== undefined);
}

function requireSplittable(pipeline: PipelineDef, entry: LedgerEntry, spans: readonly Span[]): void {
  if (isSplittable(pipeline, entry, spans)) return;
  throw usage(
    `a range that includes all or none of ${pipeline.name} ${shortSpans(spansOf(entry))}`,
    'a part of it',
    `its rows cannot be assigned to blocks: include all of ${shortSpans(spansOf(entry))}, or none of it`,
  );
}
