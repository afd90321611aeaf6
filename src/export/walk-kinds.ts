import { usage } from '../core/errors.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { WalkDef } from '../declare/walk.ts';
import type { CustomKind, WalkKind } from './walk-kind.ts';
import { blockWalk } from './walks/block-walk.ts';
import { lookupWalk } from './walks/lookup-walk.ts';
import { ltWalk } from './walks/lt-walk.ts';
import { masterchainWalk } from './walks/masterchain-walk.ts';
import { snapshotWalk } from './walks/snapshot-walk.ts';

/** The kinds that come with tonlake. A run never reads pending data. */
const KINDS: Readonly<Record<Exclude<WalkDef['kind'], 'custom'>, WalkKind>> = {
  masterchain: masterchainWalk,
  block: blockWalk,
  lt: ltWalk,
  lookup: lookupWalk,
  snapshot: snapshotWalk,
  ephemeral: { plan: () => [] },
};

/** The code of a pipeline's walk. @throws {UsageError} for a kind that no loaded file defines */
export function walkKindOf({ walks }: Pick<Registry, 'walks'>, { name, walk }: PipelineDef): WalkKind {
  if (walk.kind !== 'custom') return KINDS[walk.kind];
  const code = walks.find((each) => each.name === walk.name);
  // Only `defineWalk` makes such code.
  if (code !== undefined) return code as CustomKind;
  throw usage(
    `the code of walk kind ${walk.name}`,
    'none',
    `name the folder with the file that defines ${walk.name}: --pipelines FOLDER, or TONLAKE_PIPELINES`,
    { of: name },
  );
}
