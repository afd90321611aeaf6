import { SEALED_MEANWHILE, StoreError } from '../../core/errors.ts';
import { haveCommon, type Span, shortSpans } from '../../core/span.ts';
import type { CommitDraft, LedgerEntry } from '../store.ts';
import { spansOf } from './done-spans.ts';

export interface RivalOptions {
  /** What is about to be committed. */
  readonly draft: CommitDraft;
  /** Entries in force that other writers have committed since this one planned its rows. */
  readonly rivals: readonly LedgerEntry[];
  /** True if each block of a pipeline has its rows once, so that entries must not overlap. */
  readonly coversBlocks: (pipeline: string) => boolean;
}

/**
 * Refuses rows that would be there twice.
 * @throws {StoreError} `sealed-meanwhile` if another writer has committed the same blocks, the same part of a mart, or lists and keys
 * since these were chosen
 */
export function requireUnrivalled({ draft, rivals, coversBlocks }: RivalOptions): void {
  const spans = spansOf(draft);
  const isRival = (entry: LedgerEntry): boolean => {
    if (entry.pipeline !== draft.pipeline || draft.supersedes.includes(entry.id)) return false;
    if (draft.mart !== undefined || entry.mart !== undefined) return entry.mart?.day === draft.mart?.day;
    if (coversBlocks(draft.pipeline)) return haveCommon(spansOf(entry), spans);
    // Lists and keys of different blocks have rows in common.
    return draft.seen !== undefined && entry.verdict === 'sealed' && entry.number > draft.seen;
  };
  const rival = rivals.find(isRival);
  if (rival !== undefined && draft.forgotten === undefined) throw sealedMeanwhile(draft.pipeline, spans, rival);
}

/** The error of a commit whose rows another writer has committed, or whose replaced rows another one has replaced. */
export function sealedMeanwhile(pipeline: string, spans: readonly Span[], rival?: LedgerEntry): StoreError {
  const by = rival === undefined ? '' : ` as entry ${rival.number}`;
  return new StoreError(
    `store: ${pipeline} ${shortSpans(spans)}: another writer has committed these rows meanwhile${by}`,
    {
      code: SEALED_MEANWHILE,
      retryable: true,
      hint: 'run the same command again: it does what is missing',
    },
  );
}
