import type { Effects } from '../../core/effects.ts';
import type { MasterchainPipeline } from '../../declare/pipeline.ts';
import { Decoder } from '../../decode/decoder.ts';
import type { Source } from '../../http/source.ts';
import { PAGE_ROWS, type PageRequest, requestOf } from '../page-request.ts';
import { type Measured, measurePages } from './measure-pages.ts';

/** Most pages that are read to see how full they are. */
const MOST_PAGES = 8;
/** Share of windows that fill their page although they are planned to fit; the estimate of their rows counts it already. */
const PLANNED_OVERFLOW = 0.05;
/** Planned pages for each that is read. */
const PAGES_A_SAMPLE = 6;

/** What some of the planned pages turned out to be. */
export interface WindowSample {
  /** Further requests for each window: its rows come unevenly, so some fill their page. */
  readonly overflow: number;
  readonly measured: Measured;
}

/** Reads a few of the pages that a run would ask for, spread evenly over them. */
export async function sampleWindows(
  source: Source,
  pipeline: MasterchainPipeline,
  asks: readonly PageRequest[],
  effects: Effects,
): Promise<WindowSample> {
  const count = Math.min(MOST_PAGES, Math.ceil(asks.length / PAGES_A_SAMPLE));
  const chosen = Array.from({ length: count }, (_, i) => asks[Math.floor((asks.length * (2 * i + 1)) / (2 * count))]);
  const bodies = await Promise.all(
    chosen.map((ask) => source.fetch(requestOf(pipeline, ask as PageRequest), ({ body }) => Buffer.from(body))),
  );
  const full = bodies.filter((body) => new Decoder(pipeline).decode(body).records >= PAGE_ROWS).length;
  const overflow = Math.max(0, full / (count + 2) - PLANNED_OVERFLOW);
  return { overflow, measured: await measurePages(pipeline, bodies, effects) };
}
