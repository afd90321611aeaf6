import { fetchShardState } from '../../chain/index-ends.ts';
import { type Span, spanSize } from '../../core/span.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { LtWalk } from '../../declare/walk.ts';
import type { LtWindow } from '../lt-windows.ts';
import { fixedQuery, PAGE_ROWS, pathOf } from '../page-request.ts';
import { cutAtFinal } from '../span-cuts.ts';
import type { Density } from './density.ts';
import { readPage } from './dry-walk.ts';
import { mean } from './figure.ts';
import { measurePages } from './measure-pages.ts';
import { type Planner, planningContext, type Quote, type Quoting } from './quote.ts';
import { simulate } from './simulate.ts';

/** Stretches of logical time to read, and about how many blocks each has. */
const SAMPLES = 6;
const STRETCH_BLOCKS = 20;
/** Attempts to narrow a stretch until it fits into a page. */
const NARROWINGS = 6;
/** Further uncertainty of the number of requests. */
const DOUBT = 0.1;

/** Estimates a list by logical time: reads some stretches and simulates the walk. */
export async function quoteLt(
  quoting: Quoting<PipelineOf<LtWalk>>,
  missing: readonly Span[],
  plan: Planner<PipelineOf<LtWalk>>,
): Promise<Quote> {
  const context = await planningContext(quoting);
  const { pipeline, ends } = context;
  const pages: Uint8Array[] = [];
  const density: Density[] = [];
  for (const span of cutAtFinal(missing, pipeline.walk.lookBack, ends.last)) {
    density.push(await sampleDensity(quoting, span, pages));
  }
  const { counts, listed, band } = await simulate({ context, plan, missing, shards: 2, density });
  if (pipeline.walk.lookBack > 0) counts.set('/masterchainInfo', 1);
  const rowsOf = ({ span, places }: Density) => spanSize(span) * mean(places.map(({ rowsPerBlock }) => rowsPerBlock));
  return {
    rows: Math.round(density.reduce((sum, each) => sum + rowsOf(each), 0)),
    ...{ requests: Object.fromEntries(counts), band: Math.ceil(band + listed * DOUBT + 2), basis: 'sample' },
    ...{ isSampled: true, measured: await measurePages(pipeline, pages, context.effects) },
  };
}

/** Reads some stretches of a span, the first at its beginning. */
async function sampleDensity(quoting: Quoting, span: Span, pages: Uint8Array[]): Promise<Density> {
  const { first } = await quoting.ends();
  const blocks = spanSize(span);
  const range = {
    from: await endLtOf(quoting, Math.max(span.from - 1, first)),
    to: await endLtOf(quoting, span.to),
  };
  const width = range.to - range.from;
  const count = Math.max(1, Math.min(SAMPLES, Math.ceil(blocks / STRETCH_BLOCKS)));
  const share =
    blocks <= SAMPLES * STRETCH_BLOCKS ? width / BigInt(count) : (width * BigInt(STRETCH_BLOCKS)) / BigInt(blocks);
  const places = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const from = range.from + ((width - share) * BigInt(i)) / BigInt(Math.max(1, count - 1));
      const rows = await rowsPerLt(quoting, { from, to: from + share }, pages);
      const seqno = span.from + (Number(from + share / 2n - range.from) / Number(width)) * blocks;
      return { seqno, rowsPerBlock: (rows * Number(width)) / blocks };
    }),
  );
  return { span, range, places };
}

/** Rows per unit of logical time; a stretch that fills a page is narrowed. */
async function rowsPerLt({ context }: Quoting, window: LtWindow, pages: Uint8Array[]): Promise<number> {
  const { pipeline } = context;
  let { to } = window;
  for (let tried = 1; ; tried++) {
    const size = [['start_lt', String(window.from)] as const, ['end_lt', String(to)] as const];
    const query = [...size, ['limit', String(PAGE_ROWS)] as const, ...fixedQuery(pipeline)];
    const page = await readPage(context, { path: pathOf(pipeline), query });
    if (page.records < PAGE_ROWS || tried === NARROWINGS || to === window.from) {
      pages.push(page.body);
      return page.records / Number(to - window.from + 1n);
    }
    to = window.from + (to - window.from) / 4n;
  }
}

async function endLtOf({ context: { source }, memo: { states } }: Quoting, seqno: number): Promise<bigint> {
  const state = states.get(seqno) ?? fetchShardState(source, seqno, `plan ${seqno}`);
  states.set(seqno, state);
  return (await state).reduce((least, { endLt }) => (least === 0n || endLt < least ? endLt : least), 0n);
}
