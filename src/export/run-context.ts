import type { PipelineDef } from '../declare/pipeline.ts';
import type { Session } from '../http/session.ts';
import type { Source } from '../http/source.ts';
import type { ContentMode } from '../proof/content-proof.ts';
import { PageQueue } from './page-queue.ts';
import { StateCache } from './state-cache.ts';
import type { WalkContext, WalkMode } from './walk-context.ts';
import type { LoaderPool } from './workers/loader-port.ts';

/** Everything that a run works with. Only `runContext` makes one. */
export interface RunContext extends Omit<WalkContext, 'pipeline' | 'ends'> {
  /** Bounds the pages in memory: those requested, and those being decoded. */
  readonly pages: PageQueue;
  readonly loaders: LoaderPool;
  /** Maximum time that proven rows wait for their commit; 0 commits each span by itself. */
  readonly commitEveryMs: number;
  /** How the content of transactions is proven; may change with the first responses of the source. */
  readonly content: () => ContentMode;
  /** Folder, bucket or file of the rows; undefined for batches. */
  readonly warehouse?: string | undefined;
  /** How long to wait for blocks that are not indexed. Default 60 s. */
  readonly waitMs: number | undefined;
}

/** The context of one pipeline, when the ends of the index are known. */
export interface EngineContext<Pipeline extends PipelineDef = PipelineDef> extends RunContext, WalkContext<Pipeline> {}

/** `hash`: transactions are compared with their hashes. `none`: they are not. */
export type ContentOption = 'hash' | 'none';

/** Options of the user. */
interface Options {
  readonly walk?: WalkMode | undefined;
  readonly concurrency?: number | undefined;
  readonly commitEveryMs?: number | undefined;
  readonly content?: ContentOption | undefined;
  readonly waitMs?: number | undefined;
  readonly stop?: AbortSignal | undefined;
  readonly warehouse?: string | undefined;
}

/** Values of the caller. */
interface Given
  extends Pick<RunContext, 'pipelines' | 'registry' | 'effects' | 'sink' | 'loaders' | 'asked' | 'report'>,
    Partial<Pick<RunContext, 'history' | 'from' | 'states' | 'pages' | 'requestsPerSpan'>> {
  readonly session: Pick<Session, 'network' | 'source'> & Partial<Pick<Session, 'witness'>>;
  readonly options: Options;
}

export const COMMIT_EVERY_MS = 60_000;
/** Maximum time for the requests of a span, so that little is uncommitted if the source is slow. */
const SPAN_SECONDS = 60;
const MIN_SPAN_REQUESTS = 20;

/** The context of a run, of a repair, of batches without a warehouse, or of a plan: every walk gets one that is made here. */
export function runContext({ session: { network, source, witness }, options, ...given }: Given): RunContext {
  const { stop = new AbortController().signal, walk: mode = 'auto', concurrency = 8, waitMs, warehouse } = options;
  return {
    history: false,
    requestsPerSpan: requestsPerSpan(source),
    pages: new PageQueue(2 * concurrency),
    states: new StateCache(),
    ...given,
    network,
    source,
    witness,
    stop,
    mode,
    waitMs,
    warehouse,
    commitEveryMs: options.commitEveryMs ?? COMMIT_EVERY_MS,
    content: () => (options.content === 'none' ? 'none' : source.hasMadeUpHashes ? 'facts' : 'cells'),
  };
}

/** Maximum of requests per span, at the source's rate. */
function requestsPerSpan({ rps }: Source): number {
  return rps === undefined ? Number.MAX_SAFE_INTEGER : Math.max(MIN_SPAN_REQUESTS, Math.round(rps * SPAN_SECONDS));
}
