import { realEffects } from './effects.ts';
import { TonlakeError } from './errors.ts';
import { loadRegistry } from './registry.ts';
import type { RunOptions } from './run.ts';
import { openSession } from './session.ts';
import { intersectSpans, type Span, subtractSpans, totalSize } from './span.ts';
import { doneSpans } from './store/progress.ts';
import { openReader, type Reader } from './store/reader.ts';
import { readHeaders } from './walk/blocks.ts';
import { chainBounds } from './walk/chain.ts';
import { parseRange, resolveRange } from './walk/range.ts';
import { planRowAsks, planRowSpans } from './walk/rowplan.ts';
import { HEADER_SPAN } from './walk/walk.ts';
import { TARGET_ROWS } from './walk/windows.ts';

/** What a run would do for one pipeline. */
export interface PipelinePlan {
  readonly pipeline: string;
  /** Of the asked range. */
  readonly done: readonly Span[];
  readonly missing: readonly Span[];
  readonly seqnos: number;
  readonly requests: number;
  /** Whether the headers of everything that is missing are known; otherwise one page a block is assumed. */
  readonly isExact: boolean;
}

export interface RunPlan {
  readonly event: 'plan';
  readonly network: string;
  readonly asked: readonly Span[];
  readonly pipelines: readonly PipelinePlan[];
  readonly requests: number;
}

/** Says what `run` would do with the same options. Touches no file; asks the source only for what the range needs. */
export async function planRun(options: RunOptions): Promise<RunPlan> {
  const { effects = realEffects, registry = await loadRegistry() } = options;
  const pipelines = registry.inOrder(options.pipelines);
  const parts = parseRange(options.range);
  const session = await openSession({ ...options, effects });
  try {
    const asked = await resolveRange(parts, chainBounds(session.source));
    const reader = await readerIfAny(options.warehouse, registry.tables);
    try {
      const ledger = (await reader?.ledger()) ?? [];
      const plans: PipelinePlan[] = [];
      for (const { name, walk } of pipelines) {
        const missing = subtractSpans(asked, doneSpans(ledger, name));
        const seqnos = totalSize(missing);
        const shared = { pipeline: name, done: intersectSpans(asked, doneSpans(ledger, name)), missing, seqnos };
        if (walk.proof === 'links') {
          plans.push({
            ...shared,
            requests: headerRequests(missing, options),
            isExact: options.walk === 'masterchain',
          });
        } else {
          const known = reader === undefined ? [] : intersectSpans(missing, doneSpans(ledger, 'blocks'));
          const exact = reader === undefined ? 0 : await rowRequests(reader, known, options);
          const unknown = seqnos - totalSize(known);
          const guessed = Math.ceil(unknown * (options.walk === 'masterchain' ? 1 : ROWS_A_BLOCK / TARGET_ROWS));
          plans.push({ ...shared, requests: exact + guessed, isExact: unknown === 0 });
        }
      }
      const requests = plans.reduce((sum, plan) => sum + plan.requests, 0);
      return { event: 'plan', network: session.network, asked, pipelines: plans, requests };
    } finally {
      await reader?.close();
    }
  } finally {
    await session.close();
  }
}

/** Transactions of a masterchain block where nothing else is known. */
const ROWS_A_BLOCK = 16;
const HEADERS_A_BLOCK = 4;

function headerRequests(missing: readonly Span[], { walk }: RunOptions): number {
  const states = missing.reduce((sum, { from, to }) => sum + 2 * Math.ceil((to - from + 1) / HEADER_SPAN), 0);
  const seqnos = totalSize(missing);
  return states + (walk === 'masterchain' ? seqnos : Math.ceil((seqnos * HEADERS_A_BLOCK) / TARGET_ROWS));
}

async function rowRequests(reader: Reader, known: readonly Span[], options: RunOptions): Promise<number> {
  const mode = options.walk ?? 'auto';
  let requests = 0;
  for (const span of known) {
    const headers = await readHeaders(reader.query, { from: span.from - 1, to: span.to + 1 });
    for (const part of planRowSpans({ mode, spanAsks: Number.MAX_SAFE_INTEGER }, span, headers)) {
      requests += planRowAsks(mode, part, headers).length;
    }
  }
  return requests;
}

async function readerIfAny(path: string, tables: Parameters<typeof openReader>[1]): Promise<Reader | undefined> {
  try {
    return await openReader(path, tables);
  } catch (error) {
    if (error instanceof TonlakeError && error.code === 'no-warehouse') return undefined;
    throw error;
  }
}
