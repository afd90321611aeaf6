import type { fetchShardState, IndexEnds } from '../../chain/index-ends.ts';
import { intersectSpans, type Span, totalSize } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import { doneSpans, type LedgerEntry, type Reader, spansOf } from '../../warehouse/index.ts';
import { pathOf } from '../page-request.ts';
import type { Prepare } from '../span-walk.ts';
import type { WalkContext } from '../walk-context.ts';
import type { HeaderSample } from './header-sample.ts';
import { type Measured, NOTHING } from './measure-pages.ts';
import { windowRequests } from './window-requests.ts';

/**
 * Where the figures of a pipeline come from if no header counts its rows. `history`: requests of earlier runs, per block. `keys`: the
 * keys in the warehouse. `sample`: a few requests of the same kind. `least`: only a lower bound is known.
 */
export type ListBasis = 'history' | 'keys' | 'sample' | 'least';

/** What a run would take for the missing blocks of a pipeline. */
export interface Quote {
  readonly rows: number;
  /** By path. */
  readonly requests: Readonly<Record<string, number>>;
  /** Uncertainty of the number of requests, plus or minus. */
  readonly band: number;
  readonly basis?: ListBasis | undefined;
  readonly isSampled: boolean;
  /** What the sample pages became. */
  readonly measured: Measured;
}

/** What a quote is made from. */
export interface Quoting<Pipeline extends PipelineDef = PipelineDef> {
  /** For planning the walk. Its ledger is empty, so that nothing is compared. */
  readonly context: Omit<WalkContext<Pipeline>, 'ends'>;
  readonly ledger: readonly LedgerEntry[];
  readonly reader: Reader | undefined;
  /** Sends a request the first time. */
  readonly ends: () => Promise<IndexEnds>;
  readonly memo: QuoteMemo;
}

/** Samples that the quotes of one plan share. */
export interface QuoteMemo {
  /** By block. */
  readonly states: Map<number, ReturnType<typeof fetchShardState>>;
  /** Lengths of unfiltered lists, and their first pages, by pipeline. */
  readonly lengths: Map<string, Promise<{ readonly rows: number; readonly first: Uint8Array }>>;
  /** By the first and last block. */
  readonly samples: Map<string, Promise<HeaderSample>>;
}

/** Plans the spans of a walk; see `WalkKind`. */
export type Planner<Pipeline extends PipelineDef> = (
  context: WalkContext<Pipeline>,
  missing: readonly Span[],
) => Iterable<Prepare> | AsyncIterable<Prepare>;

/** The context of a walk that is planned and not run. */
export async function planningContext<P extends PipelineDef>({ context, ends }: Quoting<P>): Promise<WalkContext<P>> {
  return { ...context, ends: await ends() };
}

/** Uncertainty of the figures of earlier runs for other blocks. */
export const HISTORY_DOUBT = 0.15;

/** Estimates missing blocks by the requests of earlier runs; undefined if there were none. */
export function quoteFromHistory({ context, ledger }: Quoting, missing: readonly Span[]): Quote | undefined {
  const { pipeline } = context;
  const own = ledger.filter((entry) => entry.pipeline === pipeline.name && entry.scope === undefined);
  const blocks = own.reduce((sum, entry) => sum + totalSize(spansOf(entry)), 0);
  if (blocks === 0) return undefined;
  const requests = own.reduce((sum, entry) => sum + entry.requests, 0);
  const rows = own.reduce((sum, { tables }) => sum + (tables[pipeline.tables[0]?.name ?? '']?.rows ?? 0), 0);
  // A list is read whole, whatever the range.
  const scale = pipeline.walk.kind === 'snapshot' ? 1 / own.length : totalSize(missing) / blocks;
  const byHistory = Math.ceil(requests * scale);
  const windows = windowRequests(context, ledger, missing, rows * scale);
  const isByBlock = pipeline.walk.kind === 'block' && windows === undefined;
  // Earlier blocks may have come in windows, or those of now will.
  const value = isByBlock ? Math.max(byHistory, totalSize(missing)) : Math.min(byHistory, windows ?? byHistory);
  return {
    ...{ rows: Math.round(rows * scale), requests: { [pathOf(pipeline)]: value }, basis: 'history' },
    band: isByBlock ? 2 : Math.ceil(value * HISTORY_DOUBT + 2),
    ...{ isSampled: false, measured: NOTHING },
  };
}

/** True if the pipelines that this one needs are done in all missing blocks. */
export function hasNeeds({ context, ledger }: Quoting, missing: readonly Span[]): boolean {
  return context.pipeline.needs.every(
    (need) => totalSize(intersectSpans(missing, doneSpans(ledger, need))) === totalSize(missing),
  );
}
