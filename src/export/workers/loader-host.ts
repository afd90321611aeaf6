import type { PipelineDef } from '../../declare/pipeline.ts';
import { type FileForm, type RowFile, RowFolder } from '../../warehouse/staging/row-folder.ts';
import { SpanLoader } from '../span-loader.ts';
import type { Callable } from './call-thread.ts';

/** A folder whose files the host writes. */
export interface FolderPlace {
  readonly folder: string;
  readonly form: FileForm;
}

/** A method of a loader. */
export type LoaderMethod = Exclude<keyof SpanLoader, 'clear'>;

/** The numbered loaders of one thread, and the files that they write. Runs in the caller's thread, or in a worker. */
export class LoaderHost {
  readonly #pipelines = new Map<number, PipelineDef>();
  readonly #loaders = new Map<number, SpanLoader>();
  readonly #folders = new Map<string, RowFolder>();

  /** Registers a pipeline for a number, and drops the number's loader. */
  async begin(loader: number, pipeline: PipelineDef): Promise<void> {
    this.#pipelines.set(loader, pipeline);
    this.#loaders.delete(loader);
  }

  /** Calls a method of a loader. A `FolderPlace` argument stands for a sink. */
  async call(loader: number, method: LoaderMethod, ...args: readonly unknown[]): Promise<unknown> {
    const own: Callable<Pick<SpanLoader, LoaderMethod>> = this.#loader(loader);
    // `SpanLoaderPort` has the methods of the same type.
    return own[method](...(args.map((arg) => (isPlace(arg) ? this.#folderAt(arg) : arg)) as never[]));
  }

  async clear(loader: number): Promise<void> {
    await this.#loaders.get(loader)?.clear();
  }

  /** Closes the files of a folder. */
  async finish(folder: string): Promise<readonly RowFile[]> {
    const own = this.#folders.get(folder);
    this.#folders.delete(folder);
    return (await own?.finish()) ?? [];
  }

  /** Removes the files of a folder. */
  async discard(folder: string): Promise<void> {
    const own = this.#folders.get(folder);
    this.#folders.delete(folder);
    await own?.discard();
  }

  #loader(number: number): SpanLoader {
    const pipeline = this.#pipelines.get(number);
    if (pipeline === undefined) throw new Error(`expected a loader that was begun, got ${number}`);
    const loader = this.#loaders.get(number) ?? new SpanLoader(pipeline);
    this.#loaders.set(number, loader);
    return loader;
  }

  #folderAt({ folder, form }: FolderPlace): RowFolder {
    const own = this.#folders.get(folder) ?? new RowFolder(folder, form);
    this.#folders.set(folder, own);
    return own;
  }
}

function isPlace(arg: unknown): arg is FolderPlace {
  return typeof arg === 'object' && arg !== null && 'folder' in arg && !('write' in arg);
}

/** A host in this thread or in another. */
export type Loaders = Pick<LoaderHost, keyof LoaderHost>;
