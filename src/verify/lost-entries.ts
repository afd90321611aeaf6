import { formatSpans, intersectSpans, type Span, subtractSpans } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import { builtSpans, martNamed } from '../marts/commit-mart.ts';
import { loadMarts } from '../marts/load-marts.ts';
import { describeForgottenInputs, pipelinesBehind } from '../marts/mart-inputs.ts';
import { type DamagedStore, doneSpans, type LedgerEntry, spansOf, stillForgotten } from '../warehouse/index.ts';
import type { Finding } from './finding.ts';

/** Blocks of lost ledger entries. */
export interface Lost {
  readonly pipeline: string;
  readonly span: Span;
}

/** Blocks of lost entries, as far as they are known. */
export function lostIn(
  { findings, warehouse }: { readonly findings: readonly Finding[]; readonly warehouse: DamagedStore },
  registry: Registry,
): readonly Lost[] {
  return [
    ...warehouse.lost.flatMap(({ pipeline, span, spans }) =>
      pipeline !== undefined &&
      span !== undefined &&
      (martNamed(pipeline) !== undefined || registry.pipelines.some(({ name }) => name === pipeline))
        ? spansOf({ span, spans }).map((each) => ({ pipeline, span: each }))
        : [],
    ),
    ...findings.flatMap(({ kind, pipeline, span, entry }) => {
      if (span === undefined) return [];
      if (kind === 'no-headers') return [{ pipeline: registry.playing('headers').pipeline.name, span }];
      if (kind === 'not-done' && entry !== undefined) return [{ pipeline, span }];
      return kind === 'rows-unknown' ? [{ pipeline, span }] : [];
    }),
  ];
}

/** Blocks that were not exported or built again. @param entries in force */
export function stillMissing(entries: readonly LedgerEntry[], { pipeline, span }: Lost): readonly Lost[] {
  const mart = martNamed(pipeline);
  const restored = mart === undefined ? doneSpans(entries, pipeline) : builtSpans(entries, mart);
  return subtractSpans([span], restored).map((gap) => ({ pipeline, span: gap }));
}

/** The expectation of a finding about a lost entry. */
export function expectedAgain({ pipeline, span }: Lost, entry?: number): string {
  const of = entry === undefined ? '' : ` of the lost entry ${entry}`;
  return `${formatSpans([span])}${of} ${martNamed(pipeline) === undefined ? 'fetched' : 'built'} again`;
}

/** Blocks of lost entries whose numbers a repair has filled, and that were neither restored nor forgotten since. */
export function stillLost(
  warehouse: DamagedStore,
  registry: Registry,
): readonly (Lost & { readonly number: number })[] {
  const lasting = new Set(registry.lasting);
  return warehouse.filled
    .filter(({ pipeline, span }) => (martNamed(pipeline) !== undefined || lasting.has(pipeline)) && span.to > 0)
    .flatMap(({ number, pipeline, ...covered }) =>
      subtractSpans(spansOf(covered), forgottenSince(warehouse, pipeline, number))
        .flatMap((span) => stillMissing(warehouse.entries, { pipeline, span }))
        .map((each) => ({ number, ...each })),
    );
}

/** Findings for {@link stillLost}. */
export async function findLost(warehouse: DamagedStore, registry: Registry): Promise<readonly Finding[]> {
  return Promise.all(
    stillLost(warehouse, registry).map(async ({ number, ...lost }): Promise<Finding> => {
      const why = await forgottenInputs(warehouse, registry, lost);
      const got = why === undefined ? 'none' : `none: ${why}, which a run has to export again first`;
      return { kind: 'not-done', ...lost, entry: number, expected: expectedAgain(lost, number), got };
    }),
  );
}

function forgottenSince({ forgotten }: DamagedStore, pipeline: string, number: number): readonly Span[] {
  return forgotten.filter((each) => each.pipeline === pipeline && each.number > number).flatMap(spansOf);
}

/** `transactions forgotten 1:4999`: inputs without which a lost mart cannot be built. */
async function forgottenInputs(
  { entries, forgotten }: DamagedStore,
  registry: Registry,
  { pipeline, span }: Lost,
): Promise<string | undefined> {
  const name = martNamed(pipeline);
  if (name === undefined) return undefined;
  const gone = stillForgotten(forgotten, entries)
    .map((each) => ({ ...each, spans: intersectSpans(each.spans, [span]) }))
    .filter(({ spans }) => spans.length > 0);
  if (gone.length === 0) return undefined;
  const marts = await loadMarts(registry);
  const mart = marts.find((each) => each.name === name);
  return mart === undefined ? undefined : describeForgottenInputs(gone, pipelinesBehind(registry, marts, mart));
}
