import { compiledFile } from '../../core/compiled-file.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch } from '../../decode/batch.ts';
import type { FileStage, FinishOptions, Stage, StagedSpan } from '../../warehouse/index.ts';
import type { FolderState, GrowingFile } from '../../warehouse/staging/row-folder.ts';
import { CallThread, forwarding } from './call-thread.ts';
import { type FolderPlace, LoaderHost, type Loaders } from './loader-host.ts';
import { FLUSH_RECORDS, type LoaderPool, SPANS, type SpanLoaderPort, type StageSource } from './loader-port.ts';

const WORKER = new URL('./loader-worker.js', import.meta.url);

/**
 * Loaders for an export: in a worker thread, so that requests go on while pages are decoded and files are written.
 *
 * @param isSmall true if there are so few rows that starting a thread takes longer than decoding them
 */
export function openLoaders(stages: StageSource<FileStage>, isSmall: boolean): LoaderPool {
  // A thread cannot load sources.
  return isSmall || import.meta.url.endsWith('.ts') ? ownLoaders(stages) : workerLoaders(stages);
}

/** Loaders in this thread; each pipeline has its own. */
export function ownLoaders(stages: StageSource, flushRecords: number = FLUSH_RECORDS): LoaderPool {
  const slots = new WeakMap<PipelineDef, LoaderSlots>();
  return {
    flushRecords,
    take: (pipeline) => {
      const own = slots.get(pipeline) ?? new LoaderSlots(new LoaderHost());
      slots.set(pipeline, own);
      return own.take(pipeline);
    },
    stage: (_pipeline, span) => stages.stage(span),
    scratch: () => stages.scratch(),
    close: async () => {},
  };
}

/**
 * Loaders in a worker thread, which also writes their files. Pipelines take turns with them.
 *
 * @param file that the thread runs; for tests
 */
export function workerLoaders(stages: StageSource<FileStage>, file: URL = WORKER): LoaderPool {
  let thread: CallThread | undefined;
  const host = (): Loaders => {
    thread ??= new CallThread(compiledFile(file));
    return thread.object<Loaders>();
  };
  let slots: LoaderSlots | undefined;
  return {
    flushRecords: FLUSH_RECORDS,
    take: (pipeline) => {
      slots ??= new LoaderSlots(host());
      return slots.take(pipeline);
    },
    stage: (pipeline, span) => new WorkerStage(stages.stage(span), pipeline, host),
    scratch: (pipeline) => new WorkerStage(stages.scratch(), pipeline, host),
    close: async () => thread?.close(),
  };
}

/** Assigns the loaders of a host to spans, one span each. */
class LoaderSlots {
  readonly #host: Loaders;
  /** Pipeline of each open loader. */
  readonly #pipelines = new Map<number, PipelineDef>();
  readonly #free = [...Array(SPANS).keys()];
  readonly #waiting: ((number: number) => void)[] = [];

  constructor(host: Loaders) {
    this.#host = host;
  }

  /** Waits for a free loader. */
  async take(pipeline: PipelineDef): Promise<SpanLoaderPort> {
    return this.#portOf(await this.#takeNumber(), pipeline);
  }

  async #takeNumber(): Promise<number> {
    const number = this.#free.pop();
    if (number !== undefined) return number;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #giveBack(number: number): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(number);
    else next(number);
  }

  #portOf(number: number, pipeline: PipelineDef): SpanLoaderPort {
    const host = this.#host;
    if (this.#pipelines.get(number) !== pipeline) {
      // If the thread has ended, the next call fails as well.
      host.begin(number, pipeline).catch(() => {});
      this.#pipelines.set(number, pipeline);
    }
    let isFree = false;
    const release = async (): Promise<void> => {
      if (isFree) return;
      isFree = true;
      await host.clear(number).finally(() => this.#giveBack(number));
    };
    return forwarding<SpanLoaderPort>((method, args) =>
      method === 'release' ? release() : host.call(number, method, ...args.map(placed)),
    );
  }
}

/** A stage whose files the worker writes, except those of other tables, which this thread writes. */
class WorkerStage implements Stage {
  readonly files: FileStage;
  readonly #pipeline: PipelineDef;
  readonly #host: () => Loaders;

  constructor(files: FileStage, pipeline: PipelineDef, host: () => Loaders) {
    this.files = files;
    this.#pipeline = pipeline;
    this.#host = host;
  }

  write(batch: Batch): Promise<FolderState> {
    return this.files.write(batch);
  }

  grow(growing: readonly GrowingFile[]): Promise<void> {
    return this.files.grow(growing);
  }

  async finish(options?: FinishOptions): Promise<StagedSpan> {
    for (const file of await this.#host().finish(this.files.folder)) {
      const table = this.#pipeline.tables.find(({ name }) => name === file.table);
      if (table !== undefined) await this.files.adopt(table, file.path, file);
    }
    return this.files.finish(options);
  }

  async discard(): Promise<void> {
    // If the thread has ended, its files are closed.
    await this.#host()
      .discard(this.files.folder)
      .catch(() => {});
    await this.files.discard();
  }
}

/** An argument as sent to the worker: a stage is replaced by its folder. */
function placed(arg: unknown): unknown {
  if (!(arg instanceof WorkerStage)) return arg;
  const { folder, form } = arg.files;
  return { folder, form } satisfies FolderPlace;
}
