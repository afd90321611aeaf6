import { StoreError } from '../../core/errors.ts';
import { OWN_VERSION } from '../../core/newer-tonlake.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { hullOf, unionSpans } from '../../core/span.ts';
import type { CommitDraft, CommitPart, LedgerEntry, StagedSpan, TableEntry } from '../store.ts';
import { type Entries, FORMAT } from './entries.ts';

export interface DraftEntryOptions {
  readonly staged: StagedSpan;
  readonly draft: CommitDraft;
  readonly entries: Entries;
  /** Network of the warehouse. */
  readonly network: string;
  /** Identifier of the stored declaration, if there is one. */
  readonly declaration?: string | undefined;
  /** Milliseconds since 1970. */
  readonly committedAt: number;
  /** Id of the last entry of the same commit; undefined for that entry. */
  readonly commitWith?: string | undefined;
  /** Number of entries of the same commit before this one. Default 0. */
  readonly position?: number | undefined;
}

/** The next entry of the ledger, before it is written. @throws {StoreError} if it contradicts the warehouse */
export function draftEntry(options: DraftEntryOptions): LedgerEntry {
  const { staged, draft, entries, declaration, commitWith, position = 0 } = options;
  if (draft.network !== options.network) {
    throw new StoreError(`store: the warehouse is for ${options.network}, not ${draft.network}`, {
      code: 'other-network',
    });
  }
  // An entry that supersedes itself is never in force.
  entries.requireEffective(draft.supersedes.filter((id) => id !== staged.id));
  const tables: Record<string, TableEntry> = {};
  for (const [name, { schema, rows, keyHash, sums, files, reused = [] }] of Object.entries(staged.tables)) {
    if (draft.verdict === 'quarantined' && rows > 0 && name !== 'quarantine') {
      throw new StoreError(`store: a quarantined span cannot hold rows of ${name}`);
    }
    const added = files.filter(({ path }) => path !== '').map(({ stagedPath: _, ...file }) => file);
    // By day, as a stage orders its files.
    const all = reused.length === 0 ? added : [...reused, ...added].sort((a, b) => (a.path < b.path ? -1 : 1));
    tables[name] = { rows, keyHash, sums, schema, files: all };
  }
  const { planned, asOf, scope, unknownKeys, proof, content, without, mart, forgotten, copies } = draft;
  const covered = unionSpans(draft.spans ?? [draft.span]);
  const { from, to } = hullOf(covered) ?? draft.span;
  const isApart = covered.length > 1;
  return {
    format: FORMAT,
    number: entries.nextNumber + position,
    id: staged.id,
    network: draft.network,
    pipeline: draft.pipeline,
    version: draft.version,
    span: { from, to },
    ...(isApart ? { spans: covered.map((span) => ({ from: span.from, to: span.to })) } : {}),
    verdict: draft.verdict,
    tables,
    requests: draft.requests,
    retries: draft.retries,
    ...omitUndefined({
      planned,
      asOf,
      scope,
      unknownKeys,
      proof,
      content,
      declaration,
      without,
      mart,
      forgotten,
      commitWith,
      copies,
    }),
    supersedes: draft.supersedes,
    tonlake: OWN_VERSION,
    committedAt: new Date(options.committedAt).toISOString(),
  };
}

/** Drafts of a commit of several entries: the last one supersedes what any of them replaces. Entries still supersede themselves. */
export function supersedeLast(parts: readonly CommitPart[]): readonly CommitPart[] {
  const own = new Set(parts.map(({ staged }) => staged.id));
  const replaced = [...new Set(parts.flatMap(({ draft }) => draft.supersedes.filter((id) => !own.has(id))))];
  return parts.map(({ staged, draft }, at) => {
    const itself = draft.supersedes.filter((id) => own.has(id));
    return { staged, draft: { ...draft, supersedes: at === parts.length - 1 ? [...replaced, ...itself] : itself } };
  });
}
