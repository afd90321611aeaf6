import { realEffects } from './effects.ts';
import { TonlakeError } from './errors.ts';
import { loadRegistry } from './registry.ts';
import type { RunOptions } from './run.ts';
import { openSession } from './session.ts';
import { intersectSpans, type Span, subtractSpans, totalSize } from './span.ts';
import { doneSpans } from './store/progress.ts';
import { openReader, type Reader } from './store/reader.ts';
import { countPromised } from './walk/blocks.ts';
import { chainBounds } from './walk/chain.ts';
import { HEADER_PIECE } from './walk/headers.ts';
import { parseRange, resolveRange } from './walk/range.ts';

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
          const states = missing.reduce((sum, { from, to }) => sum + 2 * Math.ceil((to - from + 1) / HEADER_PIECE), 0);
          plans.push({ ...shared, requests: seqnos + states, isExact: true });
        } else {
          const known = intersectSpans(missing, doneSpans(ledger, 'blocks'));
          const promised = reader === undefined ? { requests: 0 } : await countPromised(reader.query, known);
          const unknown = seqnos - totalSize(known);
          plans.push({ ...shared, requests: promised.requests + unknown, isExact: unknown === 0 });
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

async function readerIfAny(path: string, tables: Parameters<typeof openReader>[1]): Promise<Reader | undefined> {
  try {
    return await openReader(path, tables);
  } catch (error) {
    if (error instanceof TonlakeError && error.code === 'no-warehouse') return undefined;
    throw error;
  }
}
