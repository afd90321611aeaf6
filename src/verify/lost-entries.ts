import { formatSpans, intersectSpans, type Span, subtractSpans } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import { builtSpans, martNamed } from '../marts/commit-mart.ts';
import { describeLost } from '../marts/forgotten-inputs.ts';
import { loadMarts } from '../marts/load-marts.ts';
import { pipelinesBehind } from '../marts/mart-inputs.ts';
import { type DamagedStore, doneSpans, type LedgerEntry, spansOf, stillForgotten } from '../warehouse/index.ts';
import type { Finding } from './finding.ts';

/** Blocks of lost ledger entries. */
export interface Lost {
  readonly pipeline: string;
  readonly span: Span;
}

/** What lost entries covered, as far as anything tells. */
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

/** Blocks that are not there again. @param entries in force */
export function notBack(entries: readonly LedgerEntry[], { pipeline, span }: Lost): readonly Lost[] {
  const mart = martNamed(pipeline);
  const back = mart === undefined ? doneSpans(entries, pipeline) : builtSpans(entries, mart);
  return subtractSpans([span], back).map((hole) => ({ pipeline, span: hole }));
}

/** What is left to do of a lost entry. */
export function expectedAgain({ pipeline, span }: Lost, entry?: number): string {
  const of = entry === undefined ? '' : ` of the lost entry ${entry}`;
  return `${formatSpans([span])}${of} ${martNamed(pipeline) === undefined ? 'fetched' : 'built'} again`;
}

/** Blocks of lost entries whose numbers a repair has filled, and that are neither there again nor forgotten since. */
export async function findLost(warehouse: DamagedStore, registry: Registry): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { number, pipeline, ...covered } of warehouse.filled) {
    const mart = martNamed(pipeline);
    if ((mart === undefined && !registry.lasting.includes(pipeline)) || covered.span.to === 0) continue;
    const holes = spansOf(covered).flatMap((span) => notBack(warehouse.entries, { pipeline, span }));
    for (const hole of holes) {
      const why = mart === undefined ? undefined : await forgottenInputs(warehouse, registry, mart, hole.span);
      const got = why === undefined ? 'none' : `none: ${why}, which a run has to export again first`;
      for (const span of subtractSpans([hole.span], forgottenSince(warehouse, pipeline, number))) {
        const expected = expectedAgain({ pipeline, span }, number);
        findings.push({ kind: 'not-done', pipeline, span, entry: number, expected, got });
      }
    }
  }
  return findings;
}

function forgottenSince({ forgotten }: DamagedStore, pipeline: string, number: number): readonly Span[] {
  return forgotten.filter((each) => each.pipeline === pipeline && each.number > number).flatMap(spansOf);
}

/** `transactions forgotten 1:4999`: without these rows a mart cannot be built. A mart keeps its rows when its inputs are forgotten, but not when it is lost. */
async function forgottenInputs(
  { entries, forgotten }: DamagedStore,
  registry: Registry,
  name: string,
  span: Span,
): Promise<string | undefined> {
  const gone = stillForgotten(forgotten, entries)
    .map((each) => ({ ...each, spans: intersectSpans(each.spans, [span]) }))
    .filter(({ spans }) => spans.length > 0);
  if (gone.length === 0) return undefined;
  const marts = await loadMarts(registry);
  const mart = marts.find((each) => each.name === name);
  return mart === undefined ? undefined : describeLost(gone, pipelinesBehind(registry, marts, mart));
}
