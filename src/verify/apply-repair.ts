import { type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { blockColumn } from '../declare/block-column.ts';
import { isMasterchain } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { type FewerRows, fewerRows } from '../export/fewer-rows.ts';
import { type CommitPart, type LedgerEntry, PARTIAL, type Store, stageRewrite } from '../warehouse/index.ts';
import type { Damage } from './plan-repair.ts';

export interface ApplyRepairOptions {
  readonly store: Store;
  /** All tables of which entries of the pipeline can have rows. */
  readonly tables: readonly TableDef[];
  /** Fetches spans again and stages the rows; commits nothing. @throws if the source is unavailable */
  readonly fetch: (spans: readonly Span[]) => Promise<readonly CommitPart[]>;
  /** True to keep readable rows of blocks that could not be fetched. */
  readonly keepReadable: boolean;
}

/** Result of repairing damaged entries. */
export interface RepairOutcome {
  readonly failed: readonly Span[];
  readonly isChanged: boolean;
  /** True if `keepReadable` would have kept rows of the failed blocks. */
  readonly isKeepable?: boolean;
  /** Set if the source has fewer rows than were committed. */
  readonly fewer?: FewerRows | undefined;
}

/** Maximum number of failed blocks whose old rows get separate entries. With more, nothing is changed. */
const MAX_FAILED_BLOCKS = 100;

/**
 * Replaces damaged entries in one commit: rows of sound files are copied, the others fetched again. If some blocks cannot be fetched,
 * nothing changes, unless `keepReadable` is set: their readable rows go to entries that do not count as done.
 */
export async function applyRepair(options: ApplyRepairOptions, damage: Damage): Promise<RepairOutcome> {
  const { store, fetch, keepReadable } = options;
  const { pipeline, entries, spans, refetch, sound } = damage;
  const fetched = refetch.length === 0 ? [] : await fetch(refetch);
  const read = fetched.filter((part) => isComplete(damage, part));
  const isQuarantined = entries.every(({ verdict }) => verdict === 'quarantined');
  const unread = failedOf(damage, read);
  const needsOldRows = unread.length > 0 && !isQuarantined;
  const isKeepable = needsOldRows && canKeep(damage, unread);
  if (needsOldRows && !(keepReadable && isKeepable)) return { failed: unread, isChanged: false, isKeepable };
  const keep = subtractSpans(spans, unionSpans([...refetch, ...unread]));
  const rewritten = await stageRewrite(options, { pipeline, old: entries, sound, keep, read });
  const fewer = unread.length === 0 ? fewerRows(damage.least, rewritten) : undefined;
  if (fewer !== undefined && !keepReadable) return { failed: spans, isChanged: false, fewer };
  // Fewer rows are accepted only if no old rows can be kept.
  const isTaken = fewer === undefined || !canKeep(damage, spans);
  const failed = isTaken ? unread : spans;
  const parts = [
    ...(isTaken ? rewritten : []),
    ...(needsOldRows || !isTaken ? await stageFailed(options, damage, failed) : []),
    ...fetched.filter(({ draft }) => draft.verdict === 'quarantined').map((part) => inPlaceOf(entries, part)),
  ];
  if (parts.length === 0) return { failed, isChanged: false };
  await store.commitTogether(parts);
  return { failed, isChanged: true, fewer };
}

function inPlaceOf(entries: readonly LedgerEntry[], { staged, draft }: CommitPart): CommitPart {
  return { staged, draft: { ...draft, supersedes: [...entries.map(({ id }) => id), ...draft.supersedes] } };
}

/** True if a part is complete for the scope of the damaged entry. */
function isComplete({ entries }: Damage, { draft }: CommitPart): boolean {
  const scope = entries[0]?.scope === PARTIAL ? undefined : entries[0]?.scope;
  return draft.verdict === 'accepted' && draft.scope === scope;
}

function failedOf({ pipeline, refetch, spans }: Damage, read: readonly CommitPart[]): readonly Span[] {
  const failed = subtractSpans(refetch, unionSpans(read.map(({ draft }) => draft.span)));
  // Rows that belong to no block are replaced together or not at all.
  return failed.length > 0 && pipeline.tables.some((table) => blockColumn(pipeline, table) === undefined)
    ? spans
    : failed;
}

/**
 * True if failed blocks can get separate entries and still be recognised as damaged. Rows whose damage only a checksum shows would look
 * sound in a new file.
 */
function canKeep({ isSuspect, entries, pipeline }: Damage, failed: readonly Span[]): boolean {
  if (isSuspect || entries.length > 1) return false;
  return pipeline.walk.kind === 'lt' || pipeline.walk.kind === 'block' || totalSize(failed) <= MAX_FAILED_BLOCKS;
}

/** Stages the old rows of failed spans: one entry per block for pipelines proven by headers, one per span for lists. */
async function stageFailed(
  options: ApplyRepairOptions,
  { pipeline, sound }: Damage,
  failed: readonly Span[],
): Promise<readonly CommitPart[]> {
  const spans = isMasterchain(pipeline)
    ? failed.flatMap(({ from, to }) =>
        Array.from({ length: to - from + 1 }, (_, at) => ({ from: from + at, to: from + at })),
      )
    : failed;
  const staged: CommitPart[] = [];
  for (const span of spans) {
    // Each span gets a separate entry, even if the old one was merged.
    const old = sound.map((entry) => ({ ...entry, spans: undefined }));
    for (const part of await stageRewrite(options, { pipeline, old, keep: [span], read: [] })) {
      staged.push({ ...part, draft: { ...part.draft, verdict: 'accepted', scope: PARTIAL } });
    }
  }
  return staged;
}
