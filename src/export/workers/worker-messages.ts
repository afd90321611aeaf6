import type { LinkEnds } from '../../audit/header-links.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { ContentMode } from '../../proof/content-proof.ts';
import type { FileForm, FolderState } from '../../warehouse/staging/row-folder.ts';
import type { RowRules } from '../row-rules.ts';
import type { PageRules } from '../walk-request.ts';

/** A call of a loader's method. */
export type LoaderCall =
  | { readonly kind: 'open'; readonly span: Span; readonly rules: RowRules }
  | { readonly kind: 'add'; readonly page: Uint8Array<ArrayBuffer>; readonly rules: PageRules }
  | { readonly kind: 'audit'; readonly mode: ContentMode }
  | { readonly kind: 'contentOf'; readonly span: Span }
  | { readonly kind: 'links'; readonly ends: LinkEnds }
  | { readonly kind: 'drop'; readonly unit: number }
  | { readonly kind: 'flush'; readonly folder: string; readonly form: FileForm }
  /** Answered with a number for the call `written`, as soon as the rows are sorted. */
  | { readonly kind: 'write'; readonly span: Span; readonly folder: string; readonly form: FileForm }
  | { readonly kind: 'clear' };

/** A call of the main thread to a worker. */
export interface Call {
  /** `written` is answered with a {@link FolderState} as soon as the rows are in their files. */
  readonly call: LoaderCall | { readonly kind: 'written'; readonly number: number };
  /** With the first call for another pipeline. */
  readonly pipeline?: PipelineDef;
}
