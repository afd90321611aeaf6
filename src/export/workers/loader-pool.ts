import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Stage } from '../../warehouse/index.ts';
import type { FolderState } from '../../warehouse/staging/row-folder.ts';
import { type RowSink, SpanLoader } from '../span-loader.ts';
import { FLUSH_RECORDS, type LoaderPool, type SpanLoaderPort, type StageSource } from './loader-port.ts';

/** A pool of things that one user has at a time. */
export class SlotPool<T> {
  private readonly make: () => T;
  private readonly free: T[] = [];
  private readonly waiting: ((thing: T) => void)[] = [];
  private made = 0;
  private most: number;

  /** @param most maximum number; each is made when it is first needed */
  constructor(most: number, make: () => T) {
    this.most = most;
    this.make = make;
  }

  /** Waits for a free one. */
  async take(): Promise<T> {
    const known = this.free.pop();
    if (known !== undefined) return known;
    if (this.made < this.most) return this.makeOne();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  giveBack(thing: T): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free.push(thing);
    else next(thing);
  }

  /** Raises the maximum. */
  grow(most: number): void {
    this.most = most;
    while (this.made < most && this.waiting.length > 0) this.waiting.shift()?.(this.makeOne());
  }

  private makeOne(): T {
    this.made++;
    return this.make();
  }
}

/** Spans in progress in one thread: one is encoded and committed while the next is fetched. */
const SPANS = 2;

/** Loaders in this thread. */
export function threadLoaders(stages: StageSource, flushRecords: number = FLUSH_RECORDS): LoaderPool {
  const slots = new WeakMap<PipelineDef, SlotPool<SpanLoader>>();
  return {
    spans: SPANS,
    flushRecords,
    take: async (pipeline) => {
      const slot = slots.get(pipeline) ?? new SlotPool(SPANS, () => new SpanLoader(pipeline));
      slots.set(pipeline, slot);
      const loader = await slot.take();
      return portOf(loader, () => slot.giveBack(loader));
    },
    stage: ({ name }, span) => stages.stage(name, span),
    scratch: () => stages.scratch(),
    close: async () => {},
  };
}

function portOf(loader: SpanLoader, giveBack: () => void): SpanLoaderPort {
  let isFree = false;
  return {
    open: (span, rules) => loader.open(span, rules),
    add: (page, rules) => loader.add(page, rules),
    audit: (mode) => loader.audit(mode),
    contentOf: (span) => loader.contentOf(span),
    links: (ends) => loader.links(ends),
    drop: (unit) => loader.drop(unit),
    flush: (stage) => loader.flush(sinkOf(stage)),
    write: async (span, stage) => {
      const sink = sinkOf(stage);
      await loader.write(span, sink);
      return { written: sink.written() };
    },
    release: async () => {
      if (isFree) return;
      isFree = true;
      await loader.clear();
      giveBack();
    },
  };
}

function sinkOf(stage: Stage): RowSink & { written(): Promise<FolderState> } {
  let state: FolderState = { bytes: 0, isUniform: true, growing: [] };
  return {
    ready: async () => {},
    write: async (batches, startsPart) => {
      for (const batch of batches) state = await stage.write(batch, startsPart);
    },
    written: async () => state,
  };
}
