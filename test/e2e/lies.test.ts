import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentHash } from '../../src/audit/content-hash.ts';
import { formatSpans, type Span, spanSize } from '../../src/core/span.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { readBatches } from '../../src/export/read-batches.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { NO_FAULTS, type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { DEEP_LIES, LIE_KINDS, type LieKind } from '../../src/sandbox/lies/kinds.ts';
import { openWarehouse } from '../../src/warehouse/query/open-warehouse.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';

/** A block in the middle of the range, with several shards and enough transactions for every lie. */
const LIAR = 68;
const RANGE: Span = { from: 60, to: 72 };

let sandbox: Sandbox;
let folder: string;
let truth: string;
/** Rows of each block, as texts. */
let trueBlocks: ReadonlyMap<number, readonly string[]>;

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

async function runInto(warehouse: string, walk: WalkMode) {
  const events: RunEvent[] = [];
  const report = await run({
    ...{ pipelines: ['transactions'], network: sandbox.url, range: `${RANGE.from}:${RANGE.to}`, warehouse, walk },
    ...{ effects: hurriedEffects(), waitMs: 2000, workers: 0, onEvent: (event: RunEvent) => events.push(event) },
  });
  return { report, problems: events.filter((event) => event.event === 'problem') };
}

/** What a source says, block by block, once it is proven; nothing is written. */
async function readInMemory() {
  const blocks = new Map<number, string[]>();
  const problems: RunEvent[] = [];
  const reading = async (): Promise<void> => {
    const rows = readBatches({
      ...{ network: sandbox.url, range: `${RANGE.from}:${RANGE.to}`, walk: 'masterchain' },
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

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, blocks: 200 });
  folder = freshFolder();
  await runInto(join(folder, 'truth'), 'masterchain');
  truth = await hashOf(join(folder, 'truth'));
  trueBlocks = (await readInMemory()).blocks;
});

afterAll(() => sandbox.close());

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

describe('a source that lies about one block, read block by block', () => {
  test.each(shallow.filter((kind) => !HARMLESS.includes(kind)))(
    '%s: the block is not handed out, and the others are as they are',
    async (kind) => {
      sandbox.setFaults({ lies: [{ seqno: LIAR, kind }] });
      const { blocks, problems, error } = await readInMemory();
      sandbox.setFaults(NO_FAULTS);
      expect(error).toMatchObject({ stage: 'walk', code: 'incomplete' });
      expect(problems.length).toBeGreaterThan(0);
      expect(blocks.has(LIAR)).toBe(false);
      expect(blocks.size).toBeGreaterThanOrEqual(spanSize(RANGE) - 4);
      for (const [seqno, rows] of blocks) expect(rows, String(seqno)).toEqual(trueBlocks.get(seqno));
    },
  );
});

describe.each(['masterchain', 'window'] as const)('a source that lies about one block, walked by %s', (walk) => {
  test.each(walk === 'masterchain' ? HARMLESS : shallow)(
    '%s: the block is not sealed, and is whole once the source tells the truth',
    async (kind: LieKind) => {
      const warehouse = join(folder, `${walk}-${kind}`);
      sandbox.setFaults({ lies: [{ seqno: LIAR, kind }] });
      const lied = await runInto(warehouse, walk);
      sandbox.setFaults(NO_FAULTS);
      if (lied.report.complete) {
        // A lie that shows only in lists that were not asked for, or only in passing, must have left no trace.
        expect(await hashOf(warehouse)).toBe(truth);
        expect(HARMLESS).toContain(kind);
        return;
      }
      expect(lied.problems.length).toBeGreaterThan(0);
      const status = await readStatus(warehouse);
      const sealed = status.pipelines.find(({ pipeline }) => pipeline === 'transactions')?.done ?? [];
      const kept = sealed.reduce((sum, span) => sum + spanSize(span), 0);
      expect(kept, `sealed ${formatSpans(sealed)}`).toBeGreaterThanOrEqual(spanSize(RANGE) - 4);
      const mended = await runInto(warehouse, walk);
      expect(mended.problems).toEqual([]);
      expect(mended.report.complete).toBe(true);
      expect(await hashOf(warehouse)).toBe(truth);
    },
  );
});
