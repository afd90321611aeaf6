import type { LinkEnds, LinkReport } from '../../audit/header-links.ts';
import type { RowsWithin } from '../../audit/page-audit.ts';
import type { BadBlock } from '../../audit/reconcile.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { ContentCounts } from '../../proof/content-audit.ts';
import type { ContentMode } from '../../proof/content-proof.ts';
import { type FileForm, type FolderState, type RowFile, RowFolder } from '../../warehouse/staging/row-folder.ts';
import type { PageRules, RowRules } from '../row-rules.ts';
import { type PageReport, type RowSink, SpanLoader } from '../span-loader.ts';

/** A folder whose files the host writes. */
export interface FolderPlace {
  readonly folder: string;
  readonly form: FileForm;
}

/** The loaders of a thread, by number, and the files that they write: in the thread of the caller, or in a worker. */
export class LoaderHost {
  readonly #loaders = new Map<number, SpanLoader>();
  readonly #folders = new Map<string, RowFolder>();

  /** @param pipeline for a new loader, or one that replaces that of the number */
  async open(loader: number, span: Span, rules: RowRules, pipeline?: PipelineDef): Promise<void> {
    if (pipeline !== undefined) this.#loaders.set(loader, new SpanLoader(pipeline));
    return this.#loader(loader).open(span, rules);
  }

  async add(loader: number, page: Uint8Array, rules: PageRules): Promise<PageReport> {
    return this.#loader(loader).add(page, rules);
  }

  async audit(loader: number, mode: ContentMode, held?: readonly string[]): Promise<readonly BadBlock[]> {
    return this.#loader(loader).audit(mode, held);
  }

  async contentOf(loader: number, span: Span): Promise<ContentCounts | undefined> {
    return this.#loader(loader).contentOf(span);
  }

  async links(loader: number, span: Span, ends: LinkEnds): Promise<LinkReport> {
    return this.#loader(loader).links(span, ends);
  }

  async drop(loader: number, unit: number): Promise<void> {
    return this.#loader(loader).drop(unit);
  }

  async flush(loader: number, to: RowSink | FolderPlace): Promise<void> {
    return this.#loader(loader).flush(this.#sinkOf(to));
  }

  async write(loader: number, span: Span, to: RowSink | FolderPlace, within?: RowsWithin): Promise<FolderState> {
    return this.#loader(loader).write(span, this.#sinkOf(to), within);
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
    const loader = this.#loaders.get(number);
    if (loader === undefined) throw new Error(`expected an open loader, got ${number}`);
    return loader;
  }

  #sinkOf(to: RowSink | FolderPlace): RowSink {
    if ('write' in to) return to;
    const folder = this.#folders.get(to.folder) ?? new RowFolder(to.folder, to.form);
    this.#folders.set(to.folder, folder);
    return folder;
  }
}

/** A host in this thread or in another. */
export type Loaders = Pick<LoaderHost, keyof LoaderHost>;
