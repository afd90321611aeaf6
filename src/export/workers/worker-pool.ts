import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import { WalkError } from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch } from '../../decode/batch.ts';
import type { FileStage } from '../../warehouse/index.ts';
import type { RowFile } from '../../warehouse/staging/row-folder.ts';
import type { RowRules } from '../row-rules.ts';
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
    const worker: LoaderWorker = { thread: new CallThread(file) };
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
      return workerPort({ worker, pipeline, giveBack, open: (span) => stage(pipeline.name, span), encoding });
    },
    close: async () => {
      await Promise.all([...workers].map(({ thread }) => thread.close()));
    },
  };
}

/** A worker thread with one loader in it, and the pipeline that the loader serves. */
interface LoaderWorker {
  readonly thread: CallThread;
  pipeline?: PipelineDef;
}

interface PortOptions {
  readonly worker: LoaderWorker;
  readonly pipeline: PipelineDef;
  readonly giveBack: () => void;
  readonly open: (span: Span) => FileStage;
  readonly encoding: PQueue;
}

/** A loader in a worker, which answers each call with the result of the loader's method of that name. */
function workerPort({ worker, pipeline, giveBack, open, encoding }: PortOptions): SpanLoaderPort {
  let own: Span = { from: 0, to: -1 };
  let given: RowRules = { block: undefined, audit: { kind: 'none' } };
  /** Where rows were flushed to, and the number of flushes. */
  let aside: { readonly stage: FileStage; flushes: number } | undefined;
  let isFree = false;

  const ask = <T>(call: Call['call'], transfer: readonly ArrayBuffer[] = []): Promise<T> => {
    // When the files are done, the worker may already serve another pipeline.
    const isOther = call.kind !== 'written' && worker.pipeline !== pipeline;
    if (isOther) worker.pipeline = pipeline;
    return worker.thread.ask((isOther ? { call, pipeline } : { call }) satisfies Call, transfer) as Promise<T>;
  };
  const free = (): void => {
    if (!isFree) giveBack();
    isFree = true;
  };
  const write = async (spans: readonly Span[], more: readonly Batch[], onSorted: () => void) => {
    const flushed = aside;
    const stages = spans.map((span, at) => (at === 0 ? flushed?.stage : undefined) ?? open(span));
    const newest = newestRule(pipeline, given, (flushed?.flushes ?? 0) + 1);
    const folders = stages.map(({ folder }) => folder);
    aside = undefined;
    try {
      const call = { kind: 'write', spans, folders, form: stages[0]?.form ?? 'final' } as const;
      const number = await ask<number>(call).finally(onSorted);
      const files = await ask<readonly (readonly RowFile[])[]>({ kind: 'written', number });
      const written: StagedRows[] = [];
      for (const [at, stage] of stages.entries()) {
        for (const file of files[at] ?? []) {
          const table = pipeline.tables.find(({ name }) => name === file.table);
          if (table !== undefined) await stage.adopt(table, file.path, file);
        }
        if (at === 0) for (const batch of more) await stage.write(batch);
        const staged = await encoding.add(() => stage.finish(newest));
        written.push({ span: spans[at] ?? own, staged, discard: () => stage.discard() });
      }
      return written;
    } catch (error) {
      for (const stage of stages) await stage.discard();
      throw error;
    }
  };

  return {
    open: (span, rules) => {
      own = span;
      given = rules;
      return ask({ kind: 'open', span, rules });
    },
    add: (bytes, rules) => {
      const page = ownBytes(bytes);
      return ask({ kind: 'add', page, rules }, [page.buffer]);
    },
    audit: () => ask({ kind: 'audit' }),
    links: (ends) => ask({ kind: 'links', ends }),
    drop: (unit) => ask({ kind: 'drop', unit }),
    flush: async () => {
      aside ??= { stage: open(own), flushes: 0 };
      aside.flushes++;
      const { folder, form } = aside.stage;
      await ask({ kind: 'flush', folder, form });
    },
    stage: (spans) => write(spans, [], () => {}),
    // The worker is free when its rows are sorted, before they are in files.
    finish: (spans, more = []) => write(spans, more, free),
    release: async () => {
      if (isFree) return;
      try {
        await ask({ kind: 'clear' });
      } finally {
        free();
        await aside?.stage.discard();
      }
    },
  };
}

/** The page in memory of its own, which can be transferred. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  // Node shares memory of at most 64 KiB between small buffers.
  const isAlone = byteLength === buffer.byteLength || byteLength > 65_536;
  const isOwn = buffer instanceof ArrayBuffer && isAlone && buffer.byteLength < 2 * byteLength;
  return isOwn ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(bytes);
}

/** The compiled file of a worker; tests run sources, and use the last build. */
function workerFile(): URL {
  const own = new URL('./loader-worker.js', import.meta.url);
  if (!import.meta.url.endsWith('.ts')) return own;
  const built = new URL('../../../dist/src/export/workers/loader-worker.js', import.meta.url);
  if (existsSync(fileURLToPath(built))) return built;
  throw new WalkError('walk: expected compiled files for workers, got none', {
    code: 'not-built',
    hint: 'npm run build, or --workers 0',
  });
}
