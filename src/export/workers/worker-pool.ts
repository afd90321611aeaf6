import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import type { LinkEnds, LinkReport } from '../../audit/header-links.ts';
import type { BadBlock } from '../../audit/reconcile.ts';
import { WalkError } from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch } from '../../decode/batch.ts';
import type { FileStage } from '../../warehouse/index.ts';
import type { RowFile } from '../../warehouse/staging/row-folder.ts';
import type { RowRules } from '../row-rules.ts';
import type { PageReport } from '../span-loader.ts';
import type { PageRules } from '../walk-request.ts';
import { CallThread } from './call-thread.ts';
import { SlotPool, threadLoaders } from './loader-pool.ts';
import { FLUSH_RECORDS, type LoaderPool, newestRule, type SpanLoaderPort, type StagedRows } from './loader-port.ts';
import type { Call } from './worker-messages.ts';

/** Two workers decode more than the source delivers; more would only take memory. */
const MOST_BY_DEFAULT = 2;

/**
 * Default number of workers: one core is left for fetching and encoding, which take as much time as decoding. None without compiled
 * files, because workers cannot load sources.
 */
function defaultWorkers(): number {
  return import.meta.url.endsWith('.ts') ? 0 : Math.min(MOST_BY_DEFAULT, Math.max(1, availableParallelism() - 1));
}

export interface LoaderOptions {
  /** Threads; 0 uses this one. Default: {@link defaultWorkers}. */
  readonly workers: number | undefined;
  readonly stage: (pipeline: string, span: Span) => FileStage;
  /** File that the threads run; for tests. */
  readonly file?: URL;
}

/** Loaders in worker threads, or in this one. */
export function openLoaders({ workers = defaultWorkers(), stage, file }: LoaderOptions): LoaderPool {
  return workers === 0 ? threadLoaders(stage) : workerLoaders(workers, stage, file ?? workerFile());
}

/**
 * Loaders in worker threads, started on demand. A worker decodes and sorts the rows of a span. Its encoder, another thread, writes
 * them to files while the worker decodes the next span. DuckDB measures the files of one span at a time, which bounds its memory.
 */
function workerLoaders(count: number, stage: LoaderOptions['stage'], file: URL): LoaderPool {
  const workers = new Set<LoaderWorker>();
  const slots = new SlotPool(count, () => {
    const worker = new LoaderWorker(file);
    workers.add(worker);
    return worker;
  });
  const encoding = new PQueue({ concurrency: 1 });
  return {
    spans: count + 1,
    flushRecords: FLUSH_RECORDS,
    take: async (pipeline) => {
      const worker = await slots.take();
      const giveBack = (): void => slots.giveBack(worker);
      return new WorkerPort({ worker, pipeline, giveBack, open: (span) => stage(pipeline.name, span), encoding });
    },
    close: async () => {
      await Promise.all([...workers].map((worker) => worker.close()));
    },
  };
}

interface PortOptions {
  readonly worker: LoaderWorker;
  readonly pipeline: PipelineDef;
  readonly giveBack: () => void;
  readonly open: (span: Span) => FileStage;
  readonly encoding: PQueue;
}

/** A loader in a worker, which answers each call with the result of the loader's method of that name. */
class WorkerPort implements SpanLoaderPort {
  private readonly options: PortOptions;
  private span: Span = { from: 0, to: -1 };
  private rules: RowRules = { block: undefined, audit: { kind: 'none' } };
  /** Where rows were flushed to, and the number of flushes. */
  private aside: { readonly stage: FileStage; lots: number } | undefined;
  private isFree = false;

  constructor(options: PortOptions) {
    this.options = options;
  }

  open(span: Span, rules: RowRules): Promise<void> {
    this.span = span;
    this.rules = rules;
    return this.ask({ kind: 'open', span, rules });
  }

  add(bytes: Uint8Array, rules: PageRules): Promise<PageReport> {
    const page = ownBytes(bytes);
    return this.ask({ kind: 'add', page, rules }, [page.buffer]);
  }

  audit(): Promise<readonly BadBlock[]> {
    return this.ask({ kind: 'audit' });
  }

  links(ends: LinkEnds): Promise<LinkReport> {
    return this.ask({ kind: 'links', ends });
  }

  drop(unit: number): Promise<void> {
    return this.ask({ kind: 'drop', unit });
  }

  async flush(): Promise<void> {
    this.aside ??= { stage: this.options.open(this.span), lots: 0 };
    this.aside.lots++;
    const { folder, form } = this.aside.stage;
    await this.ask({ kind: 'flush', folder, form });
  }

  stage(spans: readonly Span[]): Promise<readonly StagedRows[]> {
    return this.write(spans, [], () => {});
  }

  finish(spans: readonly Span[], more: readonly Batch[] = []): Promise<readonly StagedRows[]> {
    // The worker is free when its rows are sorted, before they are in files.
    return this.write(spans, more, () => void this.giveBack());
  }

  async release(): Promise<void> {
    if (this.isFree) return;
    try {
      await this.ask({ kind: 'clear' });
    } finally {
      this.giveBack();
      await this.aside?.stage.discard();
    }
  }

  private giveBack(): void {
    if (!this.isFree) this.options.giveBack();
    this.isFree = true;
  }

  private async write(
    spans: readonly Span[],
    more: readonly Batch[],
    onOrdered: () => void,
  ): Promise<readonly StagedRows[]> {
    const { aside } = this;
    const stages = spans.map((span, at) => (at === 0 ? aside?.stage : undefined) ?? this.options.open(span));
    const newest = newestRule(this.options.pipeline, this.rules, (aside?.lots ?? 0) + 1);
    const folders = stages.map(({ folder }) => folder);
    const form = stages[0]?.form ?? 'final';
    this.aside = undefined;
    try {
      const number = await this.ask<number>({ kind: 'write', spans, folders, form }).finally(onOrdered);
      const files = await this.ask<readonly (readonly RowFile[])[]>({ kind: 'written', number });
      const written: StagedRows[] = [];
      for (const [at, stage] of stages.entries()) {
        await this.adopt(stage, files[at] ?? []);
        if (at === 0) for (const batch of more) await stage.write(batch);
        const staged = await this.options.encoding.add(() => stage.finish(newest));
        written.push({ span: spans[at] ?? this.span, staged, discard: () => stage.discard() });
      }
      return written;
    } catch (error) {
      for (const stage of stages) await stage.discard();
      throw error;
    }
  }

  private async adopt(stage: FileStage, files: readonly RowFile[]): Promise<void> {
    for (const file of files) {
      const declared = this.options.pipeline.tables.find(({ name }) => name === file.table);
      if (declared !== undefined) await stage.adopt(declared, file.path, file);
    }
  }

  private ask<T>(call: Call['call'], transfer: readonly ArrayBuffer[] = []): Promise<T> {
    return this.options.worker.ask(this.options.pipeline, call, transfer) as Promise<T>;
  }
}

/** The page in memory of its own, which can be transferred. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  // Node shares memory of at most 64 KiB between small buffers.
  const isAlone = byteLength === buffer.byteLength || byteLength > 65_536;
  const isOwn = buffer instanceof ArrayBuffer && isAlone && buffer.byteLength < 2 * byteLength;
  return isOwn ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(bytes);
}

/** A worker thread with one loader in it. */
class LoaderWorker {
  private readonly thread: CallThread;
  private pipeline: PipelineDef | undefined;

  constructor(file: URL) {
    this.thread = new CallThread(file);
  }

  ask(pipeline: PipelineDef, call: Call['call'], transfer: readonly ArrayBuffer[]): Promise<unknown> {
    // When the files are done, the worker may already serve another pipeline.
    const isOther = call.kind !== 'written' && this.pipeline !== pipeline;
    if (isOther) this.pipeline = pipeline;
    const own: Call = isOther ? { call, pipeline } : { call };
    return this.thread.ask(own, transfer);
  }

  close(): Promise<void> {
    return this.thread.close();
  }
}

/** The compiled file of a worker; tests run sources, and use the last build. */
function workerFile(): URL {
  const own = new URL('./loader-worker.js', import.meta.url);
  if (!import.meta.url.endsWith('.ts')) return own;
  const built = new URL('../../../dist/src/export/workers/loader-worker.js', import.meta.url);
  if (existsSync(fileURLToPath(built))) return built;
  throw new WalkError('walk: workers need compiled files, and there are none', {
    code: 'not-built',
    hint: 'npm run build, or --workers 0',
  });
}
