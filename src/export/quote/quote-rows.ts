import { intersectSpans, type Span, spanSize, subtractSpans } from '../../core/span.ts';
import type { MasterchainPipeline } from '../../declare/pipeline.ts';
import { doneSpans } from '../../warehouse/index.ts';
import { pathOf } from '../page-request.ts';
import { countPromised, readHeaders } from '../store-sink.ts';
import type { WalkRequest } from '../walk-request.ts';
import { dryWalk, RequestCounts, readPage } from './dry-walk.ts';
import { spread } from './figure.ts';
import { measurePages, NOTHING } from './measure-pages.ts';
import { type Planner, planningContext, type Quote, type Quoting } from './quote.ts';
import { headerSample } from './quote-headers.ts';

/** Rows that a page brings in practice. */
const ROWS_A_REQUEST = 995;
/** Further uncertainty of a number of windows: planned from all headers, and from a sample. */
const DOUBT = { headers: 0.05, sample: 0.1 } as const;
/** Pages to read: their maximum, and one of how many. */
const SAMPLE = { most: 8, oneOf: 6 } as const;

/** Estimates rows that headers count: plans the walk from the known headers, or from a sample of them. */
export async function quoteRows(
  quoting: Quoting<MasterchainPipeline>,
  missing: readonly Span[],
  plan: Planner<MasterchainPipeline>,
): Promise<Quote> {
  const { context, reader, ledger } = quoting;
  const { pipeline, registry, sink, effects, mode } = context;
  const path = pipeline.walk.windows.path;
  const known = intersectSpans(missing, doneSpans(ledger, registry.playing('headers').pipeline.name));
  const unknown = subtractSpans(missing, known);
  const counts = new RequestCounts();
  let [rows, band, isSampled] = [0, 0, false];
  if (reader !== undefined && known.length > 0) {
    const headers = (span: Span) => readHeaders(reader.query, span);
    await dryWalk(plan({ ...context, ends: { first: 0, last: 0 }, sink: { ...sink, headers } }, known), counts);
    rows += await countPromised(reader.query, known);
  }
  const planned: WalkRequest[] = [];
  for (const span of unknown) {
    const sample = await headerSample(quoting, span);
    const own = { ...(await planningContext(quoting)), sink: { ...sink, headers: async () => sample.headers } };
    const ofStretches = new RequestCounts();
    for (const stretch of sample.stretches) {
      await dryWalk(plan(own, [stretch]), ofStretches, (request) => {
        planned.push(request);
        return 0;
      });
    }
    const blocks = spanSize(span);
    rows += blocks * sample.rowsPerBlock;
    isSampled ||= !sample.isWhole;
    if (sample.isWhole) for (const [each, count] of ofStretches.byPath) counts.add(each, count);
    else if (mode === 'masterchain') {
      const walked = sample.stretches.reduce((sum, stretch) => sum + spanSize(stretch), 0);
      counts.add(pathOf(pipeline), Math.round((blocks * ofStretches.total) / walked));
      band += blocks * DOUBT.headers;
    } else {
      const windows = Math.ceil((blocks * sample.rowsPerBlock) / ROWS_A_REQUEST);
      counts.add(path, windows);
      band += (blocks * sample.rowsBand) / ROWS_A_REQUEST + windows * (DOUBT.sample - DOUBT.headers);
    }
  }
  const windows = counts.byPath.get(path) ?? 0;
  const chosen = spread(planned, Math.min(SAMPLE.most, Math.ceil(planned.length / SAMPLE.oneOf)));
  const pages = await Promise.all(chosen.map(({ http }) => readPage(context, http)));
  band += windows * DOUBT.headers;
  const bodies = pages.map(({ body }) => body);
  const measured = pages.length === 0 ? NOTHING : await measurePages(pipeline, bodies, effects);
  const requests = Object.fromEntries(counts.byPath);
  return { rows: Math.round(rows), requests, band: Math.ceil(band), isSampled, measured };
}
