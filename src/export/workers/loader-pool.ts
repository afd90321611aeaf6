import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch } from '../../decode/batch.ts';
import type { NewestRule, Stage } from '../../warehouse/index.ts';
import type { RowRules } from '../row-rules.ts';
import { type RowSink, SpanLoader } from '../span-loader.ts';
import { FLUSH_RECORDS, type LoaderPool, newestRule, type SpanLoaderPort, type StagedRows } from './loader-port.ts';

/** A pool of things that one user has at a time. */
export class SlotPool<T> {
  private readonly make: () => T;
  private readonly free: T[] = [];
  private readonly waiting: ((thing: T) => void)[] = [];
  private left: number;

  /** @param most maximum number; each is made when it is first needed */
  constructor(most: number, make: () => T) {
    this.left = most;
    this.make = make;
  }

  /** Waits for a free one. */
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

/** Spans in progress in one thread: one is encoded and committed while the next is fetched. */
const SPANS = 2;

/** Loaders in this thread. */
export function threadLoaders(
  stage: (pipeline: string, span: Span) => Stage,
  flushRecords: number = FLUSH_RECORDS,
): LoaderPool {
  const slots = new WeakMap<PipelineDef, SlotPool<SpanLoader<StagedRows>>>();
  return {
    spans: SPANS,
    flushRecords,
    take: async (pipeline) => {
      const slot = slots.get(pipeline) ?? new SlotPool(SPANS, () => new SpanLoader<StagedRows>(pipeline));
      slots.set(pipeline, slot);
      const loader = await slot.take();
      return portOf(
        pipeline,
        loader,
        (span) => stage(pipeline.name, span),
        () => slot.giveBack(loader),
      );
    },
    close: async () => {},
  };
}

function portOf(
  pipeline: PipelineDef,
  loader: SpanLoader<StagedRows>,
  stage: (span: Span) => Stage,
  giveBack: () => void,
): SpanLoaderPort {
  let rules: RowRules | undefined;
  /** Number of flushes of the span. */
  let flushes = 0;
  const sink = (span: Span, more: readonly Batch[] = []): RowSink<StagedRows> =>
    sinkOf(span, stage(span), more, () => (rules === undefined ? {} : newestRule(pipeline, rules, flushes + 1)));
  const release = once(async () => {
    await loader.clear();
    giveBack();
  });
  return {
    open: async (span, given) => {
      rules = given;
      flushes = 0;
      await loader.open(span, given);
    },
    add: (page, pageRules) => loader.add(page, pageRules),
    audit: () => loader.audit(),
    links: (ends) => loader.links(ends),
    drop: (unit) => loader.drop(unit),
    flush: async () => {
      await loader.flush(sink);
      flushes++;
    },
    stage: (spans) => loader.write(spans, (span) => sink(span)),
    finish: (spans, more = []) => loader.write(spans, (span, at) => sink(span, at === 0 ? more : [])).finally(release),
    release: async () => {
      await release();
    },
  };
}

function sinkOf(
  span: Span,
  stage: Stage,
  more: readonly Batch[],
  newest: () => Readonly<Record<string, NewestRule>>,
): RowSink<StagedRows> {
  const write = async (batches: readonly Batch[]): Promise<void> => {
    for (const batch of batches) await stage.write(batch);
  };
  return {
    ready: async () => {},
    write,
    finish: async () => {
      await write(more);
      return { span, staged: await stage.finish(newest()), discard: () => stage.discard() };
    },
    discard: () => stage.discard(),
  };
}

/** A function that works once; later calls do nothing. */
function once<T>(work: () => T): () => T | undefined {
  let isDone = false;
  return () => {
    if (isDone) return undefined;
    isDone = true;
    return work();
  };
}
