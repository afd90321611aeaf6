import type { CommitDraft, StagedSpan } from '../store/store.ts';
import type { SpanSink } from './context.ts';

/** A span that is staged, and what its commit will say. */
export interface StagedPart {
  readonly staged: StagedSpan;
  readonly draft: CommitDraft;
}

/** A sink that keeps what it is given instead of committing it, so that several spans can take the place of one entry. */
export function collectParts(sink: Omit<SpanSink, 'commit'>): {
  readonly sink: SpanSink;
  readonly parts: StagedPart[];
} {
  const parts: StagedPart[] = [];
  const commit: SpanSink['commit'] = async (staged, draft) => {
    parts.push({ staged, draft });
    return { ...draft, format: 1, number: 0, id: staged.id, tables: staged.tables, committedAt: '' };
  };
  return { sink: { ...sink, commit }, parts };
}
