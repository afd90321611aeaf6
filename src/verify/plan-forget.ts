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

/** Which part of an entry is removed. */
export interface ForgottenEntry {
  readonly pipeline: PipelineDef;
  readonly entry: LedgerEntry;
  readonly gone: readonly Span[];
  /** Empty if the whole entry is removed. */
  readonly kept: readonly Span[];
}

export interface ForgetPlan {
  readonly entries: readonly ForgottenEntry[];
  /** Blocks of lost entries, which nothing brings back: they are given up. */
  readonly lost: readonly { readonly pipeline: PipelineDef; readonly span: Span }[];
  /** Pipelines whose rows were looked up by, or compared with, removed rows. They are kept. */
  readonly staying: readonly string[];
  /** Marts built from removed rows. */
  readonly marts: readonly string[];
}

export interface ForgetPlanOptions {
  /** Active entries. */
  readonly ledger: readonly LedgerEntry[];
  /** Blocks of lost entries that are not there again. */
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
        requireCuttable(pipeline, entry, spans);
        return {
          pipeline: narrowPipeline(pipeline, entry.without),
          entry,
          gone: intersectSpans(own, spans),
          kept: subtractSpans(own, spans),
        };
      }),
  );
  const going = new Set(entries.map(({ pipeline }) => pipeline.name));
  const gone = unionSpans(entries.flatMap((each) => each.gone));
  const holders = registry.pipelines.filter(
    ({ name, needs, provenBy }) =>
      !names.includes(name) &&
      [...needs, ...provenBy].some((other) => going.has(other)) &&
      ledger.some((entry) => entry.pipeline === name && haveCommon(spansOf(entry), gone)),
  );
  requireNoneNeeds(holders, going, names, spans);
  const marts = options.marts
    .filter((mart) => ledger.some(({ pipeline }) => pipeline === martPipeline(mart.name)))
    .filter((mart) => pipelinesBehind(registry, options.marts, mart).some((name) => going.has(name)));
  const lost = pipelines.flatMap((pipeline) => {
    const own = options.lost.filter((each) => each.pipeline === pipeline.name).map(({ span }) => span);
    return intersectSpans(unionSpans(own), spans).map((span) => ({ pipeline, span }));
  });
  return { entries, lost, staying: holders.map(({ name }) => name), marts: marts.map(({ name }) => name) };
}

/** True if rows of a pipeline belong to masterchain blocks. */
export function bindsRows({ walk }: PipelineDef): boolean {
  return walk.kind === 'masterchain' || walk.kind === 'block' || walk.kind === 'lt';
}

function requireBlocks(pipeline: PipelineDef): PipelineDef {
  if (bindsRows(pipeline)) return pipeline;
  throw usage('a pipeline exported by blocks', pipeline.name, {
    code: 'not-by-blocks',
    hint: `${suggest('show', pipeline.name)} shows how it is exported`,
  });
}

/** Rows of blocks are proven by those they need, so these must stay. Lookups need nothing once they are read. */
function requireNoneNeeds(
  holders: readonly PipelineDef[],
  going: ReadonlySet<string>,
  names: readonly string[],
  spans: readonly Span[],
): void {
  const needing = holders.filter((each) => bindsRows(each) && each.needs.some((other) => going.has(other)));
  if (needing.length === 0) return;
  const all = [...names, ...needing.map(({ name }) => name)].join(' ');
  throw usage(
    'pipelines that no other pipeline needs',
    `${names.join(', ')}: ${needing.map(({ name }) => name).join(', ')} holds blocks of ${formatSpans(spans)}`,
    { code: 'needed', hint: suggest('forget', all, { range: formatSpans(spans) }) },
  );
}

/** True if some blocks can be removed from an entry: all of them, or its rows can be assigned to blocks. */
export function isCuttable(pipeline: PipelineDef, entry: LedgerEntry, spans: readonly Span[]): boolean {
  if (subtractSpans(spansOf(entry), spans).length === 0) return true;
  return pipeline.tables.every((table) => blockColumn(pipeline, table) !== undefined);
}

function requireCuttable(pipeline: PipelineDef, entry: LedgerEntry, spans: readonly Span[]): void {
  if (isCuttable(pipeline, entry, spans)) return;
  throw usage(`a range that includes all or none of ${pipeline.name} ${shortSpans(spansOf(entry))}`, 'a part of it', {
    code: 'cut-entry',
    hint: `its rows cannot be assigned to blocks: include all of ${shortSpans(spansOf(entry))}, or none of it`,
  });
}
