import { formatSpans, hullOf, intersectSpans, type Span, unionSpans } from '../core/span.ts';
import { blockColumn } from '../declare/block-column.ts';
import { commonLeftOut, narrowPipeline } from '../declare/left-out.ts';
import { isMasterchain, type PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { type LeastRows, leastRows } from '../export/fewer-rows.ts';
import { martNamed } from '../marts/commit-mart.ts';
import { blocksOf, type LedgerEntry, spansOf } from '../warehouse/index.ts';
import { sharedBlocks } from '../warehouse/query/double-entries.ts';
import type { EntryState, TableState } from './entry-state.ts';
import type { FindingKind } from './finding.ts';
import type { Lost } from './lost-entries.ts';
import type { Inspection } from './verify.ts';

/** Damaged entries of a pipeline that share blocks, and how to repair them. Usually a single entry; none if it is lost. */
export interface Damage {
  readonly pipeline: PipelineDef;
  readonly entries: readonly LedgerEntry[];
  /** From the first to the last block. */
  readonly span: Span;
  /** All blocks of the entries. */
  readonly spans: readonly Span[];
  /** Blocks to fetch again. */
  readonly refetch: readonly Span[];
  /** The entries without their damaged files. */
  readonly sound: readonly LedgerEntry[];
  /** True if some readable rows differ from the committed rows. */
  readonly isSuspect: boolean;
  /** Minimum numbers of rows after the repair. */
  readonly least: LeastRows;
}

/** Identifies the same damage in several verifications. */
export function damageKey({ pipeline, refetch, span }: Damage): string {
  return `${pipeline.name} ${formatSpans(refetch.length > 0 ? refetch : [span])}`;
}

/** A mart to rebuild: an entry with damaged rows, or the blocks of a lost one. */
export interface DamagedMart {
  readonly name: string;
  readonly span: Span;
  readonly entry?: LedgerEntry | undefined;
}

/** Identifies the same damaged mart in several verifications. */
export function martKey({ name, span, entry }: DamagedMart): string {
  return entry?.id ?? `${name} ${formatSpans([span])}`;
}

/** The steps of a repair, in order. */
export interface RepairPlan {
  /** True if ledger numbers must be filled, rows of no entry removed, or files restored to their place. */
  readonly isLedgerBroken: boolean;
  /** Damage that can be repaired now. Pipelines that need a damaged one, or are proven by it, are verified again first. */
  readonly damages: readonly Damage[];
  readonly marts: readonly DamagedMart[];
  /** Every damaged entry of any pipeline. */
  readonly setAside: ReadonlySet<string>;
}

/** Findings that name exactly the blocks to fetch again. */
const NEAR: ReadonlySet<FindingKind> = new Set<FindingKind>([
  ...(['block-missing', 'block-stray', 'block-twice', 'block-rows', 'transaction-twice'] as const),
  ...(['messages', 'message-twice', 'key-twice', 'overlap', 'list', 'content', 'states'] as const),
]);
/** Findings that also name neighbouring blocks. Used only if there are no exact ones. */
const FAR: ReadonlySet<FindingKind> = new Set<FindingKind>(['account-chain', 'message-ends', 'block-order']);

/**
 * @param lost blocks of lost entries that are still missing
 * @param isExhausted true for damage whose attempts are exhausted
 */
export function planRepair(
  { findings, states, warehouse }: Pick<Inspection, 'findings' | 'states' | 'warehouse'>,
  registry: Registry,
  lost: readonly Lost[],
  isExhausted: (damage: Damage) => boolean,
): RepairPlan {
  const ordered = registry.inOrder(registry.pipelines.map(({ name }) => name));
  const all = ordered.map((pipeline) => [...damagesOf(pipeline, states, findings), ...lossesOf(pipeline, lost)]);
  const due = all.map((damages) => damages.filter((damage) => !isExhausted(damage)));
  const waiting = new Set<string>();
  const damages = ordered.flatMap((pipeline, at) => {
    const own = due[at] ?? [];
    const isWaiting = [pipeline.name, ...pipeline.needs, ...pipeline.provenBy].some((name) => waiting.has(name));
    if (own.length === 0 && !isWaiting) return [];
    // Headers and transactions are compared with every list.
    for (const { name } of isMasterchain(pipeline) ? ordered : [pipeline]) waiting.add(name);
    return isWaiting ? [] : own;
  });
  return {
    isLedgerBroken:
      warehouse.lost.some(({ isGap, hasRows }) => isGap || hasRows) ||
      findings.some(({ kind }) =>
        ['rows-unknown', 'checkpoint-wrong', 'identity-lost', 'schema-broken', 'file-missing'].includes(kind),
      ),
    damages,
    marts: [
      ...states.flatMap((state) => (isIntact(state) ? [] : damagedMarts(state.entry, state.entry))),
      ...lost.flatMap((each) => damagedMarts(each)),
    ],
    setAside: new Set(all.flat().flatMap(({ entries }) => entries.map(({ id }) => id))),
  };
}

function damagedMarts({ pipeline, span }: Lost, entry?: LedgerEntry): readonly DamagedMart[] {
  const name = martNamed(pipeline);
  return name === undefined ? [] : [{ name, span, entry }];
}

function damagesOf(
  pipeline: PipelineDef,
  states: readonly EntryState[],
  findings: Inspection['findings'],
): readonly Damage[] {
  const own = states.filter(({ entry }) => entry.pipeline === pipeline.name);
  const isFilesDamaged = own.some((state) => !isIntact(state));
  const accused = (kinds: ReadonlySet<FindingKind>): readonly Span[] =>
    unionSpans(
      findings.flatMap(({ kind, pipeline: name, span }) =>
        name === pipeline.name && span !== undefined && kinds.has(kind) ? [span] : [],
      ),
    );
  const bad = { near: accused(NEAR), far: accused(FAR) };
  const damages: Damage[] = [];
  for (const group of isMasterchain(pipeline) ? groupOverlapping(own) : own.map((state) => [state])) {
    const damage = damageOf(pipeline, group, bad);
    // Findings about sound files may be caused by damaged ones; real ones are found again after the repair.
    if (damage !== undefined && (!isFilesDamaged || group.some((state) => !isIntact(state)))) damages.push(damage);
  }
  return damages;
}

/** Damages for the lost blocks of a pipeline. */
function lossesOf(pipeline: PipelineDef, lost: readonly Lost[]): readonly Damage[] {
  const own = lost.filter((each) => each.pipeline === pipeline.name);
  return unionSpans(own.map(({ span }) => span)).map((span) => ({
    ...{ pipeline, entries: [], span, spans: [span], refetch: [span], sound: [] },
    ...{ isSuspect: false, least: {} },
  }));
}

interface Accused {
  readonly near: readonly Span[];
  readonly far: readonly Span[];
}

function damageOf(declared: PipelineDef, group: readonly EntryState[], bad: Accused): Damage | undefined {
  // The new entry has the columns of the old ones. If these differ, everything is fetched again.
  const pipeline = narrowPipeline(declared, commonLeftOut(group.map(({ entry }) => entry.without)));
  const whole = unionSpans(group.flatMap(({ entry }) => spansOf(entry)));
  const [first] = group;
  const refetch: Span[] = [];
  let isDamaged = group.length > 1;
  for (const { entry, tables } of group) {
    const own = spansOf(entry);
    if (entry.verdict !== 'quarantined') {
      const near = intersectSpans(bad.near, own);
      refetch.push(...(near.length > 0 ? near : intersectSpans(bad.far, own)));
    }
    for (const [name, table] of tables) {
      if (isSound(table)) continue;
      isDamaged = true;
      // The files are sound, so the ledger is wrong about them; headers prove the rows.
      if (table.trust === 'proven' && entry.verdict !== 'quarantined' && isMasterchain(pipeline)) continue;
      refetch.push(...intersectSpans(spansWithin(pipeline, entry, name, table.damaged), own));
    }
  }
  const span = hullOf(whole);
  if (span === undefined || (!isDamaged && refetch.length === 0)) return undefined;
  // Rows that belong to no block are fetched completely.
  const isBound = isMasterchain(pipeline) || pipeline.walk.kind === 'block';
  const isWhole = group.length > 1 || (!isBound && refetch.length > 0);
  return {
    ...{ pipeline, span, spans: whole, refetch: isWhole ? whole : unionSpans(refetch) },
    entries: group.map(({ entry }) => entry),
    sound: group.map(soundOf),
    isSuspect: group.some(({ tables }) =>
      [...tables.values()].some((each) => each.trust !== 'unreadable' && !isSound(each)),
    ),
    least: first === undefined || group.length > 1 ? {} : leastOf(first),
  };
}

/** Minimum numbers of rows after the repair of an entry. None if its files are intact, or only the ledger is wrong: it may have too many rows. */
function leastOf(state: EntryState): LeastRows {
  if (isIntact(state)) return {};
  const isMiscounted = (name: string): boolean => {
    const table = state.tables.get(name);
    return table?.trust === 'proven' && !table.isAsRecorded;
  };
  return Object.fromEntries(Object.entries(leastRows(state.entry)).filter(([name]) => !isMiscounted(name)));
}

/** The blocks whose rows can lie in damaged files of a table; all blocks of the entry if the bounds are unknown. */
function spansWithin(
  pipeline: PipelineDef,
  entry: LedgerEntry,
  name: string,
  damaged: ReadonlySet<string>,
): readonly Span[] {
  const table = pipeline.tables.find((each) => each.name === name);
  const column = table && blockColumn(pipeline, table);
  const files = entry.tables[name]?.files.filter(({ path }) => damaged.has(path)) ?? [];
  const spans = files.flatMap((file) => blocksOf(file, column) ?? []);
  return files.length > 0 && spans.length === files.length ? unionSpans(spans) : spansOf(entry);
}

function soundOf({ entry, tables }: EntryState): LedgerEntry {
  const sound = Object.entries(entry.tables).flatMap(([name, part]) => {
    const damaged = tables.get(name)?.damaged;
    const files = part.files.filter(({ path }) => damaged?.has(path) !== true);
    return files.length === 0 && part.files.length > 0 ? [] : [[name, { ...part, files }] as const];
  });
  return { ...entry, tables: Object.fromEntries(sound) };
}

function isSound({ trust, isAsRecorded }: TableState): boolean {
  return isAsRecorded && (trust === 'proven' || trust === 'plain');
}

function isIntact({ tables }: EntryState): boolean {
  return [...tables.values()].every(isSound);
}

/** Groups entries that share blocks, directly or through others. */
function groupOverlapping(states: readonly EntryState[]): readonly (readonly EntryState[])[] {
  const groups = new Map(states.map((state) => [state.entry, [state]]));
  for (const { entries } of sharedBlocks([...groups.keys()])) {
    const [into = [], from = []] = entries.map((entry) => groups.get(entry));
    if (into === from) continue;
    into.push(...from);
    for (const { entry } of from) groups.set(entry, into);
  }
  return [...new Set(groups.values())];
}
