import { type Span, spanSize } from '../../core/span.ts';
import type { MasterchainPipeline } from '../../declare/pipeline.ts';
import type { LtWindow } from '../lt-windows.ts';
import { pathOf } from '../page-request.ts';
import type { WalkRequest } from '../walk-request.ts';
import { type Density, doubtOf, ltAt, rowsIn } from './density.ts';
import { drySource, dryWalk, RequestCounts } from './dry-walk.ts';
import { roughly } from './figure.ts';
import { type HeaderSample, sampleHeaders } from './header-sample.ts';
import { type Measured, measurePages, NOTHING } from './measure-pages.ts';
import { type Planner, planningContext, type Quote, type Quoting } from './quote.ts';

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
    const density = [densityOf(sample, span)];
    const chain = { ends: context.ends, shards: sample.shards, ltAt: (seqno: number) => ltAt(density, seqno) };
    const starts = sample.isWhole ? sortedStarts(sample) : undefined;
    const walkWith = async (factor: number): Promise<RequestCounts> => {
      const own = new RequestCounts();
      const source = drySource(context.source, chain, own);
      await dryWalk(plan({ ...context, source }, [span]), own, (request) => {
        const window = windowOf(request);
        if (window === undefined) return 0;
        return starts === undefined ? factor * rowsIn(density, window) : countWithin(starts, window);
      });
      return own;
    };
    const path = pathOf(pipeline);
    const listed = (await walkWith(1)).byPath;
    const isExact = starts !== undefined || mode === 'masterchain';
    const requestsAt = async (factor: number): Promise<number> => (await walkWith(factor)).byPath.get(path) ?? 0;
    const figure = isExact ? { value: listed.get(path) ?? 0, band: 0 } : await roughly(requestsAt, doubtOf(density));
    for (const [each, requests] of listed) counts.add(each, each === path ? Math.round(figure.value) : requests);
    const doubt = mode === 'masterchain' ? 0 : figure.value * (sample.isWhole ? DOUBT.whole : DOUBT.sample);
    band += figure.band + doubt + 1;
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

/** The window of logical time of a request, if it has one. */
export function windowOf({ http }: WalkRequest): LtWindow | undefined {
  const parameters = new Map(http.query);
  const [from, to] = [parameters.get('start_lt'), parameters.get('end_lt')];
  return from === undefined || to === undefined ? undefined : { from: BigInt(from), to: BigInt(to) };
}

function sortedStarts({ headers }: HeaderSample): readonly bigint[] {
  return [...headers.values()]
    .flatMap((group) => group.map(({ startLt }) => startLt))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function countWithin(sorted: readonly bigint[], { from, to }: LtWindow): number {
  return position(sorted, to + 1n) - position(sorted, from);
}

/** Number of sorted logical times before `lt`. */
function position(sorted: readonly bigint[], lt: bigint): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as bigint) < lt) low = middle + 1;
    else high = middle;
  }
  return low;
}
