import { type Span, spanSize } from '../../core/span.ts';
import type { MasterchainPipeline } from '../../declare/pipeline.ts';
import type { LtWindow } from '../lt-windows.ts';
import { countWhile } from '../row-positions.ts';
import type { Density } from './density.ts';
import { RequestCounts } from './dry-walk.ts';
import { type HeaderSample, sampleHeaders } from './header-sample.ts';
import { type Measured, measurePages, NOTHING } from './measure-pages.ts';
import { type Planner, planningContext, type Quote, type Quoting } from './quote.ts';
import { simulate } from './simulate.ts';

/** Further uncertainty of a number of windows: if the sample has all headers, and otherwise. */
const DOUBT = { whole: 0.05, sample: 0.1 } as const;

/** Estimates headers: simulates the walk, by a sample of the headers. */
export async function quoteHeaders(
  quoting: Quoting<MasterchainPipeline>,
  missing: readonly Span[],
  plan: Planner<MasterchainPipeline>,
): Promise<Quote> {
  const { pipeline, effects, mode } = quoting.context;
  const counts = new RequestCounts();
  let [rows, band, isSampled] = [0, 0, false];
  let measured: Measured = NOTHING;
  for (const span of missing) {
    const context = await planningContext(quoting);
    const sample = await headerSample(quoting, span);
    const starts = sample.isWhole ? sortedStarts(sample) : undefined;
    const simulated = await simulate({
      ...{ context, plan, missing: [span], shards: sample.shards, density: [densityOf(sample, span)] },
      exactRows: starts === undefined ? undefined : (window) => countWithin(starts, window),
    });
    for (const [path, requests] of simulated.counts) counts.add(path, requests);
    const doubt = mode === 'masterchain' ? 0 : simulated.listed * (sample.isWhole ? DOUBT.whole : DOUBT.sample);
    band += simulated.band + doubt + 1;
    rows += spanSize(span) * sample.headersPerBlock;
    isSampled ||= !sample.isWhole;
    measured = await measurePages(pipeline, sample.pages, effects);
  }
  const requests = Object.fromEntries(counts.byPath);
  return { rows: Math.round(rows), requests, band: Math.ceil(band), isSampled, measured };
}

/** The sample of a span, which the quotes of headers and of rows share. */
export async function headerSample({ context, ends, memo }: Quoting, span: Span): Promise<HeaderSample> {
  const key = `${span.from}:${span.to}`;
  const { first } = await ends();
  const sample = memo.samples.get(key) ?? sampleHeaders(context.source, span, first);
  memo.samples.set(key, sample);
  return sample;
}

function densityOf({ headers, stretches, headersAtStart, headersPerBlock, range }: HeaderSample, span: Span): Density {
  const places = stretches.map((stretch) => {
    let count = 0;
    for (let seqno = stretch.from; seqno <= stretch.to; seqno++) count += headers.get(seqno)?.length ?? 0;
    return { seqno: (stretch.from + stretch.to) / 2, rowsPerBlock: count / spanSize(stretch) };
  });
  const start = { seqno: span.from, rowsPerBlock: headersAtStart ?? headersPerBlock };
  return { span, range, places: headersAtStart === undefined && places.length > 0 ? places : [start, ...places] };
}

function sortedStarts({ headers }: HeaderSample): readonly bigint[] {
  return [...headers.values()]
    .flatMap((group) => group.map(({ startLt }) => startLt))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function countWithin(sorted: readonly bigint[], { from, to }: LtWindow): number {
  return countWhile(sorted, (lt) => lt <= to) - countWhile(sorted, (lt) => lt < from);
}
