import { type Span, totalSize } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import { planSpans } from '../lt-windows.ts';
import type { SpanWalk } from '../span-walk.ts';
import type { WalkRequest } from '../walk-request.ts';
import { RequestCounts, readWhole } from './dry-walk.ts';
import { bandOfMean, mean, spread } from './figure.ts';
import { measurePages } from './measure-pages.ts';
import { type Planner, planningContext, type Quote, type Quoting } from './quote.ts';

/** Maximum of blocks to plan completely; of more, stretches are planned. */
const WHOLE_BLOCKS = 10_000;
const STRETCHES = { count: 10, blocks: 1000 } as const;
/** Planned requests to send. */
const SAMPLES = 6;
/** Further uncertainty of the number of requests. */
const DOUBT = 0.1;

/** Estimates any walk: plans the missing blocks, or stretches of them, sends a few of the requests, and scales. */
export async function quotePlanned<P extends PipelineDef>(
  quoting: Quoting<P>,
  missing: readonly Span[],
  plan: Planner<P>,
): Promise<Quote> {
  const context = await planningContext(quoting);
  const { walk } = context.pipeline;
  const stretches = stretchesOf(missing);
  const scale = totalSize(missing) / totalSize(stretches);
  const planned: { readonly walk: SpanWalk; readonly request: WalkRequest }[] = [];
  const counts = new RequestCounts();
  for await (const prepare of plan(context, stretches)) {
    const own = await prepare();
    if ('error' in own) continue;
    for await (const { requests } of own.plan()) {
      for (const request of requests) {
        planned.push({ walk: own, request });
        counts.add(request.http.path);
      }
    }
    own.onEnd?.();
  }
  const chosen = spread(planned, Math.min(SAMPLES, Math.ceil(planned.length / 10)));
  const read = await Promise.all(chosen.map((one) => readWhole(context, one.walk, one.request)));
  const asked = read.map((pages) => pages.length);
  const isSure = planned.every((each) => each.walk.next === undefined);
  const value = planned.length * scale;
  const records = read.map((pages) => pages.reduce((sum, page) => sum + page.records, 0));
  const requests = [...counts.byPath].map(([path, each]) => [path, Math.round(each * scale * mean(asked))] as const);
  const isFresh = 'lookBack' in walk && walk.lookBack > 0;
  return {
    rows: Math.round(value * mean(records)),
    requests: { ...Object.fromEntries(requests), ...(isFresh ? { '/masterchainInfo': 1 } : {}) },
    band: Math.ceil(isSure ? 1 : value * (bandOfMean(asked) + mean(asked) * DOUBT) + 1),
    ...{ basis: 'sample', isSampled: true },
    measured: await measurePages(
      context.pipeline,
      read.flat().map(({ body }) => body),
      context.effects,
    ),
  };
}

function stretchesOf(missing: readonly Span[]): readonly Span[] {
  if (totalSize(missing) <= WHOLE_BLOCKS) return missing;
  const pieces = planSpans(missing, () => 0, { records: Number.POSITIVE_INFINITY, seqnos: STRETCHES.blocks });
  return spread(pieces, STRETCHES.count);
}
