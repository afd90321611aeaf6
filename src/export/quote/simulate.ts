import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { LtWindow } from '../lt-windows.ts';
import { pathOf } from '../page-request.ts';
import type { WalkContext } from '../walk-context.ts';
import type { WalkRequest } from '../walk-request.ts';
import { type Density, doubtOf, ltAt, rowsIn } from './density.ts';
import { drySource, dryWalk, RequestCounts } from './dry-walk.ts';
import { mean } from './figure.ts';
import type { Planner } from './quote.ts';

/** Relative uncertainty of the rows of a single window. */
const ROUGHLY = 0.06;

export interface Simulation<P extends PipelineDef> {
  readonly context: WalkContext<P>;
  readonly plan: Planner<P>;
  readonly missing: readonly Span[];
  /** Blocks in a state of the shards. */
  readonly shards: number;
  readonly density: readonly Density[];
  /** The exact number of rows of a window; undefined if only the density is known. */
  readonly exactRows?: ((window: LtWindow) => number) | undefined;
}

/** Simulates a walk by windows of logical time, whose rows come as densely as a sample, or somewhat more or less. */
export async function simulate<P extends PipelineDef>(simulation: Simulation<P>) {
  const { context, plan, missing, shards, density, exactRows } = simulation;
  const path = pathOf(context.pipeline);
  const chain = { ends: context.ends, shards, ltAt: (seqno: number) => ltAt(density, seqno) };
  const walkWith = async (factor: number) => {
    const counts = new RequestCounts();
    const source = drySource(context.source, chain, counts);
    await dryWalk(plan({ ...context, source }, missing), counts, (request) => {
      const window = windowOf(request);
      if (window === undefined) return 0;
      return exactRows?.(window) ?? factor * rowsIn(density, window);
    });
    return counts.byPath;
  };
  const counts = await walkWith(1);
  const listed = counts.get(path) ?? 0;
  if (exactRows !== undefined) return { counts, listed, band: 0 };
  const requestsAt = async (factor: number): Promise<number> => (await walkWith(factor)).get(path) ?? 0;
  const nearby: number[] = [];
  for (const by of [-1, -0.5, 0, 0.5, 1]) nearby.push(await requestsAt(1 + by * ROUGHLY));
  const value = mean(nearby);
  const doubt = doubtOf(density);
  const extremes = [...nearby, await requestsAt(1 - doubt), await requestsAt(1 + doubt)];
  const band = Math.max(...extremes.map((each) => Math.abs(each - value)));
  return { counts: counts.set(path, Math.round(value)), listed: value, band };
}

/** The window of logical time of a request, if it has one. */
function windowOf({ http }: WalkRequest): LtWindow | undefined {
  const parameters = new Map(http.query);
  const [from, to] = [parameters.get('start_lt'), parameters.get('end_lt')];
  return from === undefined || to === undefined ? undefined : { from: BigInt(from), to: BigInt(to) };
}
