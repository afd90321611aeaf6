import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import { WalkError } from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { RowFile } from '../../warehouse/staging/row-folder.ts';
import type { FileStage, StagedSpan } from '../../warehouse/store.ts';
import { CallThread } from './call-thread.ts';
import { once, SlotPool, threadLoaders } from './loader-pool.ts';
import type { LoaderPool, SpanLoaderPort } from './loader-port.ts';
import type { Call } from './worker-messages.ts';

/** Two decode more than the largest plan of the source gives; more would only take memory. */
const MOST_BY_DEFAULT = 2;

/**
 * Workers without an option: one core is left to fetching and encoding, which take as much time as decoding. None where only
 * sources are there, which no worker can load.
 */
function defaultWorkers(): number {
  return import.meta.url.endsWith('.ts') ? 0 : Math.min(MOST_BY_DEFAULT, Math.max(1, availableParallelism() - 1));
}

export interface LoaderOptions {
  /** Threads; 0 for none beside this one. Default as {@link defaultWorkers} says. */
  readonly workers: number | undefined;
  readonly stage: (pipeline: string, span: Span) => FileStage;
  /** What the threads run; for tests. */
  readonly file?: URL;
}

/** Loaders in worker threads, or in this one. */
export function openLoaders({ workers = defaultWorkers(), stage, file }: LoaderOptions): LoaderPool {
  return workers === 0 ? threadLoaders(stage) : workerLoaders(workers, stage, file ?? workerFile());
}

/**
 * Loaders in worker threads, started when they are needed. A worker decodes the pages of a span and puts its rows in order; its
 * encoder, a thread of its own, writes them into files while the worker decodes the next span; DuckDB's threads measure those, one
 * span at a time, which bounds the memory of it.
 */
function workerLoaders(count: number, stage: LoaderOptions['stage'], file: URL): LoaderPool {
  const workers = new Set<LoaderWorker>();
  const shelf = new SlotPool(count, () => {
    const worker = new LoaderWorker(file);
    workers.add(worker);
    return worker;
  });
  const encoding = new PQueue({ concurrency: 1 });
  return {
    spans: count + 1,
    take: async (pipeline) => {
      const worker = await shelf.take();
      const release = once(() => shelf.giveBack(worker));
      const open = (span: Span): FileStage => stage(pipeline.name, span);
      return portOf({ worker, pipeline, release, open, encoding });
    },
    close: async () => {
      await Promise.all([...workers].map((worker) => worker.close()));
    },
  };
}

interface PortOptions {
  readonly worker: LoaderWorker;
  readonly pipeline: PipelineDef;
  readonly release: () => void;
  readonly open: (span: Span) => FileStage;
  readonly encoding: PQueue;
}

function portOf({ worker, pipeline, release, open, encoding }: PortOptions): SpanLoaderPort {
  // What a worker answers is what the loader's method of the same name gives.
  const ask = <T>(call: Call['call'], transfer: readonly ArrayBuffer[] = []): Promise<T> =>
    worker.ask(pipeline, call, transfer) as Promise<T>;
  return {
    open: (span, headers) => ask({ kind: 'open', span, headers }),
    add: (bytes, overflow) => {
      const page = ownBytes(bytes);
      return ask({ kind: 'add', page, overflow }, [page.buffer]);
    },
    audit: () => ask({ kind: 'audit' }),
    links: (ends) => ask({ kind: 'links', ends }),
    drop: (seqno) => ask({ kind: 'drop', seqno }),
    finish: async (spans) => {
      const stages = spans.map(open);
      const folders = stages.map(({ folder }) => folder);
      const form = stages[0]?.form ?? 'final';
      try {
        const number = await ask<number>({ kind: 'finish', spans, folders, form }).finally(release);
        const files = await ask<readonly (readonly RowFile[])[]>({ kind: 'written', number });
        const staged: StagedSpan[] = [];
        for (const [at, own] of stages.entries()) {
          for (const file of files[at] ?? []) {
            const declared = pipeline.tables.find(({ name }) => name === file.table);
            if (declared !== undefined) await own.adopt(declared, file.path, file);
          }
          staged.push(await encoding.add(() => own.finish()));
        }
        return staged;
      } catch (error) {
        for (const own of stages) await own.discard();
        throw error;
      }
    },
    release,
  };
}

/** A page in memory that can be given away: its own, and not much more than it needs. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  // Small bodies lie in memory that Node shares between buffers.
  const isOwn = buffer instanceof ArrayBuffer && byteLength > 65_536 && buffer.byteLength < 2 * byteLength;
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
    // What was written is asked for when another pipeline may have the worker.
    const isOther = call.kind !== 'written' && this.pipeline !== pipeline;
    if (isOther) this.pipeline = pipeline;
    const own: Call = isOther ? { call, pipeline } : { call };
    return this.thread.ask(own, transfer);
  }

  close(): Promise<void> {
    return this.thread.close();
  }
}

/** Workers run compiled files; sources, as in tests, use those of the last build. */
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
