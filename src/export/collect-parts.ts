import { type CommitDraft, PARTIAL, type StagedSpan } from '../warehouse/index.ts';
import type { SpanSink } from './walk-context.ts';

/** A span that is staged, and what its commit will say. */
export interface StagedPart {
  readonly staged: StagedSpan;
  readonly draft: CommitDraft;
}

/**
 * A sink that keeps what it is given instead of committing it, so that several spans can take the place of one entry. It shows the
 * walk nothing of the pipeline that counts as done.
 */
export function collectParts(
  sink: SpanSink,
  pipeline: string,
): { readonly sink: SpanSink; readonly parts: readonly StagedPart[] } {
  const parts: StagedPart[] = [];
  const ledger: SpanSink['ledger'] = () =>
    sink
      .ledger()
      .filter((entry) => entry.pipeline !== pipeline || entry.verdict === 'quarantined' || entry.scope === PARTIAL);
  const commit: SpanSink['commit'] = async (staged, draft) => {
    parts.push({ staged, draft });
    return { ...draft, format: 1, number: 0, id: staged.id, tables: staged.tables, committedAt: '' };
  };
  return { sink: { ...sink, ledger, commit }, parts };
}
