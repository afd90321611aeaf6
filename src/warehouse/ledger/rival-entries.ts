import { COMMITTED_MEANWHILE, StoreError } from '../../core/errors.ts';
import { haveCommon, type Span, shortSpans } from '../../core/span.ts';
import { coversBlocks, type PipelineDef } from '../../declare/pipeline.ts';
import type { CommitDraft, LedgerEntry } from '../store.ts';
import { spansOf } from './done-spans.ts';

export interface RivalOptions {
  /** The entry that is about to be committed, and its id. */
  readonly draft: CommitDraft;
  readonly id: string;
  /** Entries in force that other writers have committed since this one planned its rows. */
  readonly rivals: readonly LedgerEntry[];
  /** True if another writer has replaced an entry. */
  readonly isReplaced: (id: string) => boolean;
  /** Pipelines that may be committed. Default none. */
  readonly pipelines?: readonly PipelineDef[] | undefined;
}

/**
 * Refuses a commit that would duplicate rows.
 * @throws {StoreError} `committed-meanwhile` if another writer has committed the same blocks, the same part of a mart, or lists and keys
 * since these were chosen
 */
export function requireUnrivalled({ draft, id, rivals, isReplaced, pipelines = [] }: RivalOptions): void {
  const spans = spansOf(draft);
  const own = pipelines.find(({ name }) => name === draft.pipeline);
  const isRival = (entry: LedgerEntry): boolean => {
    if (entry.pipeline !== draft.pipeline || draft.supersedes.includes(entry.id)) return false;
    if (draft.mart !== undefined || entry.mart !== undefined) return entry.mart?.day === draft.mart?.day;
    // Each block of such a pipeline has its rows once, so that entries must not overlap.
    if (own === undefined || coversBlocks(own)) return haveCommon(spansOf(entry), spans);
    // Lists and keys of different blocks can share rows.
    return draft.seen !== undefined && entry.verdict === 'accepted' && entry.number > draft.seen;
  };
  const rival = rivals.find(isRival);
  if (rival !== undefined && draft.forgotten === undefined) throw committedMeanwhile(draft.pipeline, spans, rival);
  if (draft.supersedes.some((each) => each !== id && isReplaced(each))) throw committedMeanwhile(draft.pipeline, spans);
}

/** Another writer has committed the same rows, or has replaced the rows that this commit would replace. */
export function committedMeanwhile(pipeline: string, spans: readonly Span[], rival?: LedgerEntry): StoreError {
  const by = rival === undefined ? '' : ` as entry ${rival.number}`;
  return new StoreError(
    `store: ${pipeline} ${shortSpans(spans)}: another writer has committed these rows meanwhile${by}`,
    {
      code: COMMITTED_MEANWHILE,
      retryable: true,
      hint: 'run the same command again: it does what is missing',
    },
  );
}
