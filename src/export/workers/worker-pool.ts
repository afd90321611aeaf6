import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import PQueue from 'p-queue';
import { compiledFile } from '../../core/compiled-file.ts';
import { WalkError } from '../../core/errors.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { Batch } from '../../decode/batch.ts';
import type { FileStage, FinishOptions, Stage, StagedSpan } from '../../warehouse/index.ts';
import type { FileForm, FolderState, GrowingFile, RowFile } from '../../warehouse/staging/row-folder.ts';
import { CallThread, type Transferred } from './call-thread.ts';
import type { EncoderCall } from './encoder-messages.ts';
import { SlotPool, threadLoaders } from './loader-pool.ts';
import { FLUSH_RECORDS, type LoaderPool, type SpanLoaderPort, type StageSource } from './loader-port.ts';
import type { Call } from './worker-messages.ts';

const LOADER = new URL('./loader-worker.js', import.meta.url);
const ENCODER = new URL('./encoder-worker.js', import.meta.url);

/** Bytes of waiting pages at which the other workers start: half of what `PageQueue` allows, because each start costs half a second of CPU. */
const BACKLOG_BYTES = 16 * 2 ** 20;

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
  /** Maximum of threads; 0 uses this one. Default: {@link defaultWorkers}. */
  readonly workers: number | undefined;
  readonly stages: StageSource<FileStage>;
  /** File that the threads run; for tests. */
  readonly file?: URL;
}

/** Loaders in worker threads, or in this one. */
export function openLoaders({ workers = defaultWorkers(), stages, file }: LoaderOptions): LoaderPool {
  return workers === 0 ? threadLoaders(stages) : workerLoaders(workers, stages, file ?? LOADER);
}

/**
 * Loaders in worker threads: one, and the others when pages pile up. A worker decodes and sorts the rows of a span, and hands them to the encoder, a thread
 * for all workers, which writes them to files. DuckDB measures the files of one stage at a time, which bounds its memory.
 */
function workerLoaders(count: number, stages: StageSource<FileStage>, file: URL): LoaderPool {
  const threads = new Set<CallThread>();
  const start = (path: URL, port?: MessagePort): CallThread => {
    const thread = new CallThread(path, port);
    threads.add(thread);
    return thread;
  };
  let encoder: CallThread | undefined;
  const encode = (call: EncoderCall, transfer: readonly Transferred[] = []): Promise<unknown> => {
    encoder ??= start(compiled(ENCODER));
    return encoder.ask(call, transfer);
  };
  const slots = new SlotPool(1, () => {
    const { port1, port2 } = new MessageChannel();
    // If the encoder cannot be started, the first rows get the error.
    encode({ kind: 'connect', port: port2 }, [port2]).catch(() => {});
    const worker: LoaderWorker = { thread: start(compiled(file), port1) };
    return worker;
  });
  let backlog = 0;
  const decoded = async <T>(bytes: number, work: Promise<T>): Promise<T> => {
    backlog += bytes;
    if (backlog > BACKLOG_BYTES) slots.grow(count);
    return work.finally(() => {
      backlog -= bytes;
    });
  };
  const measuring = new PQueue({ concurrency: 1 });
  const open = (pipeline: PipelineDef, files: FileStage) => new EncodedStage({ pipeline, files, encode, measuring });
  return {
    spans: count + 1,
    flushRecords: FLUSH_RECORDS,
    take: async (pipeline) => {
      const worker = await slots.take();
      const port = workerPort(worker, pipeline, () => slots.giveBack(worker));
      return { ...port, add: (page, rules) => decoded(page.length, port.add(page, rules)) };
    },
    stage: (pipeline, span) => open(pipeline, stages.stage(pipeline.name, span)),
    scratch: (pipeline) => open(pipeline, stages.scratch()),
    close: async () => {
      await Promise.all([...threads].map((thread) => thread.close()));
    },
  };
}

interface EncodedOptions {
  readonly pipeline: PipelineDef;
  readonly files: FileStage;
  readonly encode: (call: EncoderCall) => Promise<unknown>;
  readonly measuring: PQueue;
}

/** A stage whose files the encoder writes; those of other tables, this thread. */
class EncodedStage implements Stage {
  readonly #options: EncodedOptions;

  constructor(options: EncodedOptions) {
    this.#options = options;
  }

  get folder(): string {
    return this.#options.files.folder;
  }

  get form(): FileForm {
    return this.#options.files.form;
  }

  write(batch: Batch): Promise<FolderState> {
    return this.#options.files.write(batch);
  }

  grow(growing: readonly GrowingFile[]): Promise<void> {
    return this.#options.files.grow(growing);
  }

  async finish(options: FinishOptions): Promise<StagedSpan> {
    const { pipeline, files, encode, measuring } = this.#options;
    for (const file of (await encode({ kind: 'finish', folder: this.folder })) as readonly RowFile[]) {
      const table = pipeline.tables.find(({ name }) => name === file.table);
      if (table !== undefined) await files.adopt(table, file.path, file);
    }
    return measuring.add(() => files.finish(options));
  }

  async discard(): Promise<void> {
    const { files, encode } = this.#options;
    // A thread that has ended holds no file open.
    await encode({ kind: 'discard', folder: this.folder }).catch(() => {});
    await files.discard();
  }
}

/** A worker thread with one loader in it, and the pipeline that the loader serves. */
interface LoaderWorker {
  readonly thread: CallThread;
  pipeline?: PipelineDef;
}

/** A loader in a worker, which answers each call with the result of the loader's method of that name. */
function workerPort(worker: LoaderWorker, pipeline: PipelineDef, giveBack: () => void): SpanLoaderPort {
  let isFree = false;
  const ask = <T>(call: Call['call'], transfer: readonly ArrayBuffer[] = []): Promise<T> => {
    // When the rows are written, the worker may already serve another pipeline.
    const isOther = call.kind !== 'written' && worker.pipeline !== pipeline;
    if (isOther) worker.pipeline = pipeline;
    return worker.thread.ask((isOther ? { call, pipeline } : { call }) satisfies Call, transfer) as Promise<T>;
  };
  return {
    open: (span, rules) => ask({ kind: 'open', span, rules }),
    add: (page, rules) => {
      const own = ownBytes(page);
      return ask({ kind: 'add', page: own, rules }, [own.buffer]);
    },
    audit: (mode) => ask({ kind: 'audit', mode }),
    contentOf: (span) => ask({ kind: 'contentOf', span }),
    links: (ends) => ask({ kind: 'links', ends }),
    drop: (unit) => ask({ kind: 'drop', unit }),
    flush: (stage) => ask({ kind: 'flush', ...placeOf(stage) }),
    write: async (span, stage) => {
      const number = await ask<number>({ kind: 'write', span, ...placeOf(stage) });
      const written = ask<FolderState>({ kind: 'written', number });
      // The caller may still have something to do before it waits.
      written.catch(() => {});
      return { written };
    },
    release: async () => {
      if (isFree) return;
      isFree = true;
      await ask({ kind: 'clear' }).finally(giveBack);
    },
  };
}

/** Where the encoder writes the files of a stage. */
function placeOf(stage: Stage): Pick<FileStage, 'folder' | 'form'> {
  if (!(stage instanceof EncodedStage)) throw new Error('expected a stage of this pool');
  return { folder: stage.folder, form: stage.form };
}

/** The page in memory of its own, which can be transferred. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  // Node shares memory of at most 64 KiB between small buffers.
  const isAlone = byteLength === buffer.byteLength || byteLength > 65_536;
  const isOwn = buffer instanceof ArrayBuffer && isAlone && buffer.byteLength < 2 * byteLength;
  return isOwn ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(bytes);
}

/** The compiled file of a thread. */
function compiled(file: URL): URL {
  const built = compiledFile(file);
  if (!import.meta.url.endsWith('.ts') || built.protocol !== 'file:' || existsSync(fileURLToPath(built))) return built;
  throw new WalkError('walk: expected compiled files for workers, got none', {
    code: 'not-built',
    hint: 'npm run build, or --workers 0',
  });
}
