import { fetchShardState, type IndexEnds } from '../../chain/index-ends.ts';
import type { Effects } from '../../core/effects.ts';
import { type Span, spanSize, totalSize } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { BlockWalk, LtWalk } from '../../declare/walk.ts';
import { Decoder } from '../../decode/decoder.ts';
import type { Source } from '../../http/source.ts';
import type { LtWindow } from '../lt-windows.ts';
import { fixedQuery, PAGE_ROWS } from '../page-request.ts';
import { cutAtFinal } from '../span-cuts.ts';
import { LIST_PROBE_BLOCKS, LIST_SPAN_BLOCKS, LIST_SPAN_ROWS, LIST_WINDOW_ROWS } from '../walks/lt-walk.ts';
import { bandOfMean, exactly, type Figure, mean, sumOf, windowRequests } from './figure.ts';

/** Blocks, or stretches of logical time, that are looked at. */
const SAMPLES = 6;
/** How often a stretch is narrowed until it fits a page. */
const NARROWINGS = 6;
/** How far a figure may be off beside what the sample tells. */
const DOUBT = 0.1;

/** What the rows of a list would take, by a few requests of the same kind. */
export interface ListSample {
  readonly rows: number;
  /** By path. */
  readonly requests: ReadonlyMap<string, Figure>;
  /** Pages as they came, for measuring. */
  readonly pages: readonly Uint8Array[];
}

/** How long a list is, to a page exactly, and its first page. */
export interface ListLength {
  readonly rows: number;
  readonly first: Uint8Array;
}

/** Where a sample is taken. */
export interface Sampling {
  readonly source: Source;
  readonly effects: Effects;
  readonly ends: () => Promise<IndexEnds>;
  /** States of shards that were read, by block. */
  readonly states: Map<number, ReturnType<typeof fetchShardState>>;
  /** Lists without a filter whose end was found, by pipeline. */
  readonly lengths: Map<string, Promise<ListLength>>;
}

interface Page {
  readonly body: Buffer;
  readonly records: number;
}

type Query = readonly (readonly [name: string, value: string])[];

/** Asks as a run would, and counts the records. */
export async function readPage(
  { source }: Sampling,
  pipeline: PipelineDef,
  query: Query,
  missing?: 'wait',
): Promise<Page> {
  const path = pathOf(pipeline);
  const label = `plan ${pipeline.name}`;
  const ask = {
    path,
    query: [...query, ...fixedQuery(pipeline)],
    label,
    ...(missing === undefined ? {} : { missing }),
  };
  return source.fetch(ask, ({ body }) => {
    const { records } = new Decoder(pipeline).decode(body, { read_at: 0n, as_of: 0n, seqno: 0n });
    return { body: Buffer.from(body), records };
  });
}

export function pathOf({ endpoint }: PipelineDef): string {
  return endpoint.replace(/^[A-Z]+ /, '');
}

/** Rows of each masterchain block by itself: some blocks are read whole. */
export async function sampleBlocks(
  sampling: Sampling,
  pipeline: PipelineDef,
  { seqno: parameter, limit, lookBack }: BlockWalk,
  missing: readonly Span[],
): Promise<ListSample> {
  const total = totalSize(missing);
  const count = Math.min(SAMPLES, Math.ceil(total / 10));
  const seqnos = Array.from({ length: count }, (_, i) => nth(missing, Math.floor((total * (2 * i + 1)) / (2 * count))));
  const pages: Uint8Array[] = [];
  const blocks = await Promise.all(
    seqnos.map(async (seqno) => {
      let rows = 0;
      for (let asked = 1; ; asked++) {
        const size: Query = limit === undefined ? [] : [['limit', String(limit)]];
        const skip: Query = asked === 1 ? [] : [['offset', String((asked - 1) * (limit ?? 0))]];
        const page = await readPage(sampling, pipeline, [[parameter, String(seqno)], ...size, ...skip], 'wait');
        pages.push(page.body);
        rows += page.records;
        if (limit === undefined || page.records < limit) return { rows, asked };
      }
    }),
  );
  const asked = blocks.map((block) => block.asked);
  const value = total * mean(asked);
  const isSure = limit === undefined;
  const requests = new Map([
    [pathOf(pipeline), { value, band: isSure ? 1 : total * bandOfMean(asked) + value * DOUBT + 1 }],
    ...(lookBack > 0 ? [['/masterchainInfo', exactly(1)] as const] : []),
  ]);
  return { rows: total * mean(blocks.map(({ rows }) => rows)), requests, pages };
}

function nth(spans: readonly Span[], at: number): number {
  let left = at;
  for (const span of spans) {
    if (left < spanSize(span)) return span.from + left;
    left -= spanSize(span);
  }
  return spans.at(-1)?.to ?? 0;
}

/** Rows of a range of logical time: some stretches are read, and the walk is done in thought. */
export async function sampleLt(
  sampling: Sampling,
  pipeline: PipelineDef,
  walk: LtWalk,
  missing: readonly Span[],
): Promise<ListSample> {
  const pages: Uint8Array[] = [];
  const parts: { readonly span: Span; readonly rates: readonly number[] }[] = [];
  const { first, last } = await sampling.ends();
  for (const span of cutAtFinal(missing, walk.lookBack, last)) {
    parts.push({ span, rates: await ratesOf(sampling, pipeline, { span, first }, pages) });
  }
  const figures: Figure[] = [];
  const seen = { rows: 0, blocks: 0 };
  const most = spanBlocks(sampling);
  let states = 1;
  for (const { span, rates } of parts) {
    for (let { from } = span; from <= span.to; ) {
      const planned = Math.floor((LIST_SPAN_ROWS * seen.blocks) / Math.max(seen.rows, 1));
      const size = seen.blocks === 0 ? LIST_PROBE_BLOCKS : Math.max(1, Math.min(LIST_SPAN_BLOCKS, planned));
      const blocks = Math.min(size, most, span.to - from + 1);
      const expected = seen.blocks === 0 ? 0 : (seen.rows * blocks) / seen.blocks;
      const windows = Math.max(1, Math.ceil(expected / LIST_WINDOW_ROWS));
      const here = seen.blocks === 0 ? rates.slice(0, 1) : rates;
      const each = here.map((rate) => (rate * blocks) / windows);
      figures.push(windowRequests(windows, each));
      states++;
      seen.rows += mean(here) * blocks;
      seen.blocks += blocks;
      from += blocks;
    }
  }
  const { value, band } = sumOf(figures);
  const requests = new Map<string, Figure>([
    ['/masterchainBlockShardState', exactly(states)],
    [pathOf(pipeline), { value, band: band + value * DOUBT + 2 }],
    ...(walk.lookBack > 0 ? [['/masterchainInfo', exactly(1)] as const] : []),
  ]);
  const rows = parts.reduce((sum, { span, rates }) => sum + spanSize(span) * mean(rates), 0);
  return { rows, requests, pages };
}

/** Most masterchain blocks of a span at the source's rate. */
function spanBlocks({ source: { rps } }: Sampling): number {
  return rps === undefined ? Number.MAX_SAFE_INTEGER : 2 * Math.max(20, Math.round(rps * 60));
}

/** Rows of a masterchain block at some stretches of a span; the first is where it begins. */
async function ratesOf(
  sampling: Sampling,
  pipeline: PipelineDef,
  { span, first }: { readonly span: Span; readonly first: number },
  pages: Uint8Array[],
) {
  const blocks = spanSize(span);
  const start = await endLtOf(sampling, Math.max(span.from - 1, first));
  const width = (await endLtOf(sampling, span.to)) - start;
  const count = Math.max(1, Math.min(SAMPLES, Math.ceil(blocks / LIST_PROBE_BLOCKS)));
  const share =
    blocks <= SAMPLES * LIST_PROBE_BLOCKS
      ? width / BigInt(count)
      : (width * BigInt(LIST_PROBE_BLOCKS)) / BigInt(blocks);
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const from = start + ((width - share) * BigInt(i)) / BigInt(Math.max(1, count - 1));
      const rows = await rowsPerLt(sampling, pipeline, { from, to: from + share }, pages);
      return (rows * Number(width)) / blocks;
    }),
  );
}

/** Rows of a unit of logical time; a stretch that fills a page is narrowed. */
async function rowsPerLt(sampling: Sampling, pipeline: PipelineDef, window: LtWindow, pages: Uint8Array[]) {
  let { to } = window;
  for (let tried = 1; ; tried++) {
    const query: Query = [
      ['start_lt', String(window.from)],
      ['end_lt', String(to)],
      ['limit', String(PAGE_ROWS)],
    ];
    const page = await readPage(sampling, pipeline, query);
    if (page.records < PAGE_ROWS || tried === NARROWINGS || to === window.from) {
      pages.push(page.body);
      return page.records / Number(to - window.from + 1n);
    }
    to = window.from + (to - window.from) / 4n;
  }
}

async function endLtOf({ source, states }: Sampling, seqno: number): Promise<bigint> {
  const state = states.get(seqno) ?? fetchShardState(source, seqno, `plan ${seqno}`);
  states.set(seqno, state);
  return (await state).reduce((least, { endLt }) => (least === 0n || endLt < least ? endLt : least), 0n);
}
