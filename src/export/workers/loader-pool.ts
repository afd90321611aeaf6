import type { Span } from '../../core/span.ts';
import type { Stage, StagedSpan } from '../../warehouse/store.ts';
import { type RowSink, SpanLoader } from '../span-loader.ts';
import type { LoaderPool, SpanLoaderPort } from './loader-port.ts';

/** Things that can be lent to one at a time. */
export class SlotPool<T> {
  private readonly make: () => T;
  private readonly free: T[] = [];
  private readonly waiting: ((thing: T) => void)[] = [];
  private left: number;

  /** @param most how many are made at most, each when it is first needed */
  constructor(most: number, make: () => T) {
    this.left = most;
    this.make = make;
  }

  /** One that nobody else has; waits until there is one. */
  async take(): Promise<T> {
    const known = this.free.pop();
    if (known !== undefined) return known;
    if (this.left > 0) {
      this.left--;
      return this.make();
    }
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  giveBack(thing: T): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free.push(thing);
    else next(thing);
  }
}

/** Spans under way at once in one thread: one is encoded and committed while the next is fetched. */
const SPANS = 2;

/** Loaders in this thread. */
export function threadLoaders(stage: (pipeline: string, span: Span) => Stage): LoaderPool {
  const shelves = new Map<string, SlotPool<SpanLoader<StagedSpan>>>();
  return {
    spans: SPANS,
    take: async (pipeline) => {
      const shelf = shelves.get(pipeline.name) ?? new SlotPool(SPANS, () => new SpanLoader<StagedSpan>(pipeline));
      shelves.set(pipeline.name, shelf);
      const loader = await shelf.take();
      return portOf(
        loader,
        (span) => stage(pipeline.name, span),
        once(() => shelf.giveBack(loader)),
      );
    },
    close: async () => {},
  };
}

function portOf(loader: SpanLoader<StagedSpan>, stage: (span: Span) => Stage, release: () => void): SpanLoaderPort {
  return {
    open: (span, headers) => loader.open(span, headers),
    add: (page, overflow) => loader.add(page, overflow),
    audit: () => loader.audit(),
    links: (ends) => loader.links(ends),
    drop: (seqno) => loader.drop(seqno),
    finish: (spans) => loader.finish(spans, (span) => sinkOf(stage(span))).finally(release),
    release,
  };
}

function sinkOf(stage: Stage): RowSink<StagedSpan> {
  return {
    ready: async () => {},
    write: async (batches) => {
      for (const batch of batches) await stage.write(batch);
    },
    finish: () => stage.finish(),
    discard: () => stage.discard(),
  };
}

/** Does something the first time it is called. */
export function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
