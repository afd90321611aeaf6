import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { contentHash } from '../../src/audit/content-hash.ts';
import { formatSpans, type Span, spanSize } from '../../src/core/span.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { readBatches } from '../../src/export/read-batches.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { DEEP_LIES, LIE_KINDS, type LieKind } from '../faults/lie-kinds.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { countedIn } from './export.ts';

/** Blocks with several shards and enough transactions for every lie. */
const LIAR = 68;
const LIARS = [LIAR, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116];
const WHOLE: Span = { from: 60, to: 124 };
/** The blocks around one lie, or all blocks. */
const rangeOf = (lies: readonly Lied[]): Span => (lies.length === 1 ? { from: 60, to: LIAR + 4 } : WHOLE);

/** By range. */
const truths = new Map<string, string>();
/** Hashes of what an honest source says. */
async function truthOf(span: Span): Promise<string> {
  const known = truths.get(formatSpans([span]));
  if (known !== undefined) return known;
  const warehouse = join(freshFolder(), 'truth');
  await runInto(warehouse, 'masterchain', span);
  const truth = await hashOf(warehouse);
  truths.set(formatSpans([span]), truth);
  return truth;
}

type Problem = Extract<RunEvent, { readonly event: 'problem' }>;

async function hashOf(warehouse: string): Promise<string> {
  const registry = await loadRegistry();
  const opened = await openWarehouse(warehouse);
  try {
    const parts: string[] = [];
    for (const name of ['blocks', 'transactions', 'messages', 'account_states']) {
      const { rows, hash } = await contentHash(opened.query, registry.table(name));
      parts.push(`${name} ${rows} ${hash}`);
    }
    return parts.join('\n');
  } finally {
    await opened.close();
  }
}

async function runInto(warehouse: string, walk: WalkMode, span: Span, pipelines: readonly string[] = ['transactions']) {
  const events: RunEvent[] = [];
  const report = await run({
    ...{ pipelines, network: sandbox.url, range: formatSpans([span]), warehouse, walk },
    ...{ effects: hurriedEffects(), waitMs: 2000, onEvent: (event: RunEvent) => events.push(event) },
  });
  return { report, problems: events.filter((event): event is Problem => event.event === 'problem') };
}

/** What a source says, block by block, once it is proven; nothing is written. */
async function readInMemory(span: Span) {
  const blocks = new Map<number, string[]>();
  const problems: Problem[] = [];
  const reading = async (): Promise<void> => {
    const rows = readBatches({
      ...{ network: sandbox.url, range: formatSpans([span]), walk: 'masterchain' },
      ...{ effects: hurriedEffects(), waitMs: 2000 },
      onEvent: (event) => void (event.event === 'problem' && problems.push(event)),
    });
    for await (const { table, batch } of rows) {
      const column = { transactions: 'mc_block_seqno', messages: 'tx_mc_block_seqno' }[table];
      if (column === undefined) continue;
      for (const row of batch) {
        const seqno = Number(row[column]);
        blocks.set(seqno, [...(blocks.get(seqno) ?? []), `${table} ${row}`]);
      }
    }
  };
  const error = await reading().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  for (const rows of blocks.values()) rows.sort();
  return { blocks, problems, error };
}

const sandbox = await startTestSandbox({ port: 0, blocks: 200 });
/** Rows of each block, as texts. */
const trueBlocks = (await readInMemory(WHOLE)).blocks;

/** Lies that only the links between transactions contradict, which `verify --deep` follows. */
const shallow = LIE_KINDS.filter((kind) => !DEEP_LIES.has(kind) && kind !== 'hash-changes');
/** Shown only in lists that are not asked for, or only in passing: they must leave no trace. */
const HARMLESS: readonly LieKind[] = [
  'hole-forever',
  'state-shard-missing',
  'state-older',
  'blocks-half',
  'blocks-empty',
  'transactions-half',
  'transactions-empty',
  'state-never',
];

/** Lies far enough from each other that each has its own effect. */
interface Lied {
  readonly kind: LieKind;
  readonly seqno: number;
}

/** Few blocks have what these leave out; the first of `LIARS` does. */
const RARE: readonly LieKind[] = ['log-missing', 'bounce-missing', 'out-message-instead', 'transactions-swapped'];
/** These are about whole lists, or a block to look for elsewhere, and would hide others. */
const ALONE: readonly LieKind[] = HARMLESS;

/** Groups of lies for one export, each about another block. */
function groupsOf(kinds: readonly LieKind[]): readonly (readonly Lied[])[] {
  const rare = kinds.filter((kind) => RARE.includes(kind));
  const usual = kinds.filter((kind) => !RARE.includes(kind) && !ALONE.includes(kind));
  const groups: Lied[][] = ALONE.filter((kind) => kinds.includes(kind)).map((kind) => [{ kind, seqno: LIAR }]);
  while (rare.length + usual.length > 0) {
    const group = LIARS.map((seqno) => ({ seqno, kind: (seqno === LIAR ? rare.shift() : undefined) ?? usual.shift() }));
    groups.push(group.filter((lie): lie is Lied => lie.kind !== undefined));
  }
  return groups;
}

const isNear = ({ seqno }: Lied, spans: readonly Span[]): boolean =>
  spans.some(({ from, to }) => from <= seqno + 1 && seqno - 1 <= to);

/** Every kind with what came of its group, which is exported when its first kind is tested. */
function casesOf<T>(groups: readonly (readonly Lied[])[], exportGroup: (lies: readonly Lied[]) => Promise<T>) {
  return groups.flatMap((lies) => {
    let outcome: Promise<T> | undefined;
    const outcomeOf = () => (outcome ??= exportGroup(lies));
    return lies.map((lie) => ({ ...lie, lie, outcomeOf }));
  });
}

describe('a source that lies about some blocks, read block by block', () => {
  const exportGroup = async (lies: readonly Lied[]) => {
    sandbox.setFaults({ lies });
    const outcome = await readInMemory(rangeOf(lies));
    sandbox.setFaults(NO_FAULTS);
    const { blocks, error } = outcome;
    expect(error).toMatchObject({ stage: 'walk', code: 'incomplete' });
    expect(blocks.size).toBeGreaterThanOrEqual(spanSize(rangeOf(lies)) - lies.length - 2);
    for (const [seqno, rows] of blocks) expect(rows, String(seqno)).toEqual(trueBlocks.get(seqno));
    return outcome;
  };
  test.each(casesOf(groupsOf(shallow.filter((kind) => !HARMLESS.includes(kind))), exportGroup))(
    '$kind: the block is not handed out, and the others are as they are',
    async ({ lie, outcomeOf }) => {
      const { blocks, problems } = await outcomeOf();
      expect(blocks.has(lie.seqno)).toBe(false);
      expect(isNear(lie, problems)).toBe(true);
    },
  );
});

describe('headers without transactions', () => {
  const span: Span = { from: 60, to: 72 };
  const headersIn = async (path: string): Promise<ReadonlyMap<number, number>> => {
    const opened = await openWarehouse(path);
    const { rows } = await opened.query('SELECT mc_block_seqno, count(*)::INTEGER FROM blocks GROUP BY ALL');
    await opened.close();
    return new Map(rows as [number, number][]);
  };
  /** @returns blocks that are not proven */
  const runLied = async (walk: WalkMode, lies: readonly Lied[]) => {
    const warehouse = join(freshFolder(), 'w');
    sandbox.setFaults({ lies });
    const { report } = await runInto(warehouse, walk, span, ['blocks']);
    sandbox.setFaults(NO_FAULTS);
    expect(report.complete).toBe(false);
    const got = await headersIn(warehouse);
    expect([...got].filter(([seqno, headers]) => honest.get(seqno) !== headers)).toEqual([]);
    return [...honest.keys()].filter((seqno) => !got.has(seqno));
  };
  /** Exported once for all lies, without any. */
  let honest: ReadonlyMap<number, number>;
  beforeAll(async () => {
    const path = join(freshFolder(), 'truth');
    await runInto(path, 'masterchain', span, ['blocks']);
    honest = await headersIn(path);
    expect(honest.size).toBe(spanSize(span));
  });
  test.each(
    (['masterchain', 'window'] as const).flatMap((walk) =>
      (['blocks-half', 'prev-unknown', 'mc-prev-unknown'] as const).flatMap((kind) => [
        { walk, lies: [{ kind, seqno: LIAR }] },
        // A hole far before the lie is not the reason of what is missing.
        { walk, lies: [{ kind, seqno: LIAR }, { kind: 'blocks-empty', seqno: 62 } as const] },
      ]),
    ),
  )('$walk, $lies: no block is proven without one of its headers', async ({ walk, lies }) => {
    const out = await runLied(walk, lies);
    expect(out.filter((seqno) => !lies.some((lie) => lie.seqno === seqno))).toEqual([]);
  });

  /** With the masterchain block that is said to include a block of another one. */
  const MISPLACED = [
    ['mc-header-other-masterchain', LIAR + 1],
    ['header-other-masterchain', LIAR + 1],
    ['header-late-masterchain', LIAR + 4],
    ['header-early-masterchain', LIAR - 4],
    ['header-time-early', LIAR],
    ['start-lt-early', LIAR],
  ] as const;
  test.each((['masterchain', 'window'] as const).flatMap((walk) => MISPLACED.map((lie) => [walk, ...lie] as const)))(
    '%s, %s: neither its block nor the one that is said to include it is proven',
    async (walk, kind, other) => {
      const out = await runLied(walk, [{ kind, seqno: LIAR }]);
      expect(out).toContain(LIAR);
      expect(out.filter((seqno) => seqno !== LIAR && seqno !== other)).toEqual([]);
    },
  );
});

describe.each(['masterchain', 'window'] as const)('a source that lies about some blocks, walked by %s', (walk) => {
  const exportGroup = async (lies: readonly Lied[]) => {
    const warehouse = join(freshFolder(), 'w');
    const span = rangeOf(lies);
    sandbox.setFaults({ lies });
    const lied = await runInto(warehouse, walk, span);
    sandbox.setFaults(NO_FAULTS);
    const proven = await countedIn(warehouse);
    const kept = proven.reduce((sum, span) => sum + spanSize(span), 0);
    expect(kept, `proven ${formatSpans(proven)}`).toBeGreaterThanOrEqual(spanSize(span) - lies.length - 2);
    if (!lied.report.complete) {
      const mended = await runInto(warehouse, walk, span);
      expect(mended.problems).toEqual([]);
      expect(mended.report.complete).toBe(true);
    }
    expect(await hashOf(warehouse)).toBe(await truthOf(span));
    return { proven, problems: lied.problems };
  };
  // Block by block no list holds two of the lies.
  const groups =
    walk === 'masterchain' ? [HARMLESS.map((kind, at) => ({ kind, seqno: 64 + 8 * at }))] : groupsOf(shallow);
  test.each(casesOf(groups, exportGroup))(
    '$kind: the block is not proven, and is whole once the source tells the truth',
    async ({ kind, seqno, lie, outcomeOf }) => {
      const { proven, problems } = await outcomeOf();
      if (proven.some(({ from, to }) => from <= seqno && seqno <= to)) {
        // A lie that shows only in lists that were not asked for, or only in passing, leaves no trace.
        expect(HARMLESS).toContain(kind);
      } else {
        expect(isNear(lie, problems)).toBe(true);
      }
    },
  );
});
