import { type CommitDraft, PARTIAL, type StagedSpan } from '../warehouse/index.ts';
import type { EngineContext, SpanSink } from './walk-context.ts';

/** A staged span and the draft of its commit. */
export interface StagedPart {
  readonly staged: StagedSpan;
  readonly draft: CommitDraft;
}

/**
 * Collects what a walk would commit, so that several spans can replace one entry. The walk sees none of its pipeline's rows as done,
 * and its commits are not reported. Each span is a part.
 */
export async function collectParts(
  context: EngineContext,
  walk: (collecting: EngineContext) => Promise<unknown>,
): Promise<readonly StagedPart[]> {
  const { sink, pipeline, report } = context;
  const parts: StagedPart[] = [];
  const ledger: SpanSink['ledger'] = () =>
    sink
      .ledger()
      .filter(
        (entry) => entry.pipeline !== pipeline.name || entry.verdict === 'quarantined' || entry.scope === PARTIAL,
      );
  const commit: SpanSink['commit'] = async (staged, draft) => {
    parts.push({ staged, draft });
    return { ...draft, format: 1, number: 0, id: staged.id, tables: staged.tables, committedAt: '' };
  };
  await walk({
    ...context,
    commitEveryMs: 0,
    sink: { ...sink, ledger, commit },
    report: (event) => {
      if (event.event !== 'span') report(event);
    },
  });
  return parts;
}
