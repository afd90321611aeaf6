import type { Effects } from '../core/effects.ts';
import { StoreError } from '../core/errors.ts';
import { shortSpans, unionSpans } from '../core/span.ts';
import type { TableDef } from '../declare/table.ts';
import {
  type CommitPart,
  covering,
  FORGOTTEN,
  type ForgottenRows,
  type Store,
  spansOf,
  stageRewrite,
} from '../warehouse/index.ts';
import type { ForgetPlan } from './plan-forget.ts';

export interface Forgetting {
  readonly store: Store;
  readonly network: string;
  readonly tables: readonly TableDef[];
  readonly effects: Effects;
  readonly by: ForgottenRows['by'];
  /** First and last day of the removed rows, by pipeline. */
  readonly days: ReadonlyMap<string, NonNullable<ForgottenRows['days']>>;
}

/**
 * Commits a plan in one step: entries without rows that record the removal, and the remaining rows of entries that lose only a part.
 *
 * @throws {StoreError} `busy` if the ledger has changed since the plan; `damaged` if the rows differ from the committed rows
 */
export async function forgetEntries(context: Forgetting, plan: Pick<ForgetPlan, 'entries' | 'lost'>): Promise<void> {
  const { store } = context;
  const { entries } = plan;
  const inForce = new Set(store.ledger().map(({ id }) => id));
  const changed = entries.find(({ entry }) => !inForce.has(entry.id))?.entry;
  if (changed !== undefined) {
    throw new StoreError(
      `store: ${changed.pipeline} ${shortSpans(spansOf(changed))} was changed by another process in the meantime`,
      { code: 'busy', hint: 'run the same command again' },
    );
  }
  const parts: CommitPart[] = [];
  for (const { pipeline, entry, remaining, removed } of entries.filter((each) => each.remaining.length > 0)) {
    parts.push(...(await stageRewrite(context, { pipeline, old: [entry], keep: remaining, read: [], drop: removed })));
  }
  const removals = tombstones(plan, context);
  if (removals.length > 0) await store.commitTogether([...parts, ...removals]);
}

/**
 * Entries without rows for the removed blocks of each pipeline: one per span, or a single one if an entry was merged. They supersede the
 * entries of the rows, and themselves, so they are never in force.
 */
function tombstones(
  { entries, lost }: Pick<ForgetPlan, 'entries' | 'lost'>,
  { network, effects, by, days }: Forgetting,
): readonly CommitPart[] {
  const pipelines = new Map([...lost, ...entries].map(({ pipeline }) => [pipeline.name, pipeline]));
  return [...pipelines].flatMap(([name, { version }]) => {
    const own = entries.filter(({ pipeline }) => pipeline.name === name);
    const ownLost = lost.filter(({ pipeline }) => pipeline.name === name).map(({ span }) => span);
    const removed = unionSpans([...own.flatMap((each) => each.removed), ...ownLost]);
    const isMerged = own.some((each) => each.entry.spans !== undefined);
    return (isMerged ? [removed] : removed.map((span) => [span])).map((spans): CommitPart => {
      const id = effects.freshId();
      const supersedes = [id, ...own.map((each) => each.entry.id)];
      return {
        staged: { id, tables: {} },
        draft: {
          ...{ network, pipeline: name, version, ...covering(spans), verdict: 'accepted', scope: FORGOTTEN },
          ...{ requests: 0, retries: 0, supersedes, forgotten: { by, days: days.get(name) } },
        },
      };
    });
  });
}
