import { PARTIAL } from '../warehouse/ledger/done-spans.ts';
import type { CommitDraft, LedgerEntry, StagedSpan, Store } from '../warehouse/store.ts';
import type { SpanSink } from './walk-context.ts';

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

/** A store that keeps what a walk of a list commits, and shows the walk nothing that counts as done. */
export function collectStore(
  store: Store,
  pipeline: string,
): { readonly store: Store; readonly parts: readonly StagedPart[] } {
  const ledger: Store['ledger'] = () =>
    store
      .ledger()
      .filter((entry) => entry.pipeline !== pipeline || entry.verdict === 'quarantined' || entry.scope === PARTIAL);
  const { sink, parts } = collectParts({
    stage: (name, span) => store.stage(name, span),
    ledger,
    headers: async () => new Map(),
    transactions: async () => [],
  });
  return {
    parts,
    store: {
      ...{ kind: store.kind, path: store.path, staging: store.staging, query: store.query, ledger },
      stage: (name, span) => store.stage(name, span),
      commit: sink.commit,
      commitTogether: async (drafts) => {
        const entries: LedgerEntry[] = [];
        for (const { staged, draft } of drafts) entries.push(await sink.commit(staged, draft));
        return entries;
      },
      clearSuperseded: () => store.clearSuperseded(),
      close: () => store.close(),
    },
  };
}
