import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { hashTables, query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

const RANGE = '1000:1019';
/** Their records may lack every field, or there are none in so short a range. */
const NOTHING_TO_DAMAGE = ['address_book', 'decoded_messages', 'nft_transfers', 'dns_records'];
/** One record answers several keys, and comes again when one of them is asked for again. */
const SHARED = ['multisig_wallets', 'token_metadata', 'token_info'];

const registry = await loadRegistry();
const names = registry.toRun(registry.lasting).map(({ name }) => name);
let damages: readonly Damage[] = [];

const sandbox = await startTestSandbox({ blocks: 1100 });
const warehouse = join(freshFolder(), 'w');
const network = sandbox.url;
sandbox.answer = async ({ path, forward }) => {
  const answer = await forward();
  const parsed: unknown = JSON.parse(answer.body);
  for (const damage of damages) if (damage.paths.includes(path)) damage.apply(parsed);
  return { ...answer, body: JSON.stringify(parsed) };
};

async function go(pipelines: readonly string[], into: string) {
  const events: RunEvent[] = [];
  const options = { network, range: RANGE, warehouse: into, pipelines };
  const { complete, quarantined } = await run({ ...options, onEvent: (event) => events.push(event) });
  const told = events.filter((event) => event.event === 'problem' || event.event === 'quarantine');
  return { complete, quarantined, told };
}

/** A value of a column that must have one becomes an object, in one record that has the column's field, whenever it comes. */
class Damage {
  readonly paths: readonly string[];
  readonly pipeline: string;
  count = 0;
  private readonly field: string | undefined;
  private victim: string | undefined;

  constructor({ name, endpoint, walk, tables: [table] }: PipelineDef, field?: string) {
    this.pipeline = name;
    this.paths = [endpoint.replace(/^\S+ /, ''), ...(walk.kind === 'masterchain' ? [walk.windows.path] : [])];
    const column = table?.columns.find(({ nullable, origin, kind }) => {
      return !nullable && kind !== 'json' && origin.kind === 'path' && origin.path !== '/key';
    });
    this.field = field ?? (column?.origin.kind === 'path' ? column.origin.path.split('/').at(-1) : undefined);
  }

  apply(answer: unknown): void {
    const records = this.holders(answer);
    // Windows of logical time begin and end with rows of blocks outside of the range.
    this.victim ??= JSON.stringify(records[records.length >> 1]);
    for (const record of records) {
      if (JSON.stringify(record) !== this.victim) continue;
      Object.assign(record, { [this.field as string]: { not: 'this' } });
      this.count++;
    }
  }

  /** The objects that have the field, outermost first. */
  private holders(value: unknown): readonly object[] {
    if (typeof value !== 'object' || value === null || this.field === undefined) return [];
    return Object.hasOwn(value, this.field) ? [value] : Object.values(value).flatMap((inner) => this.holders(inner));
  }
}

/** Pipelines to export at once: what they need is in an earlier group, and no two of them read the same path. */
function groupsOf(pipelines: readonly string[]): readonly (readonly Damage[])[] {
  const groups: Damage[][] = [];
  for (const name of pipelines) {
    const damage = new Damage(registry.pipeline(name));
    const { provenBy } = registry.pipeline(name);
    const needed = registry.toRun([name, ...provenBy]).map((each) => each.name);
    const isBefore = (other: Damage): boolean => other.pipeline !== name && needed.includes(other.pipeline);
    const after = groups.findLastIndex((group) => group.some(isBefore)) + 1;
    const isFree = (group: readonly Damage[]): boolean =>
      !group.some(({ paths }) => paths.some((path) => damage.paths.includes(path)));
    const at = groups.findIndex((group, at) => at >= after && isFree(group));
    if (at === -1) groups.push([damage]);
    else groups[at]?.push(damage);
  }
  return groups;
}

describe.sequential('a record that cannot be decoded', () => {
  const groups = groupsOf(names).map((group) => ({ group, own: group.map(({ pipeline }) => pipeline) }));
  describe.each(groups)('of $own', ({ group, own }) => {
    let first: Awaited<ReturnType<typeof go>>;
    let open: readonly string[];
    let second: Awaited<ReturnType<typeof go>>;
    beforeAll(async () => {
      damages = group;
      first = await go(own, warehouse);
      damages = [];
      const { pipelines } = await readStatus(warehouse);
      open = pipelines.filter(({ missing }) => missing.length > 0).map(({ pipeline }) => pipeline);
      second = await go(own, warehouse);
    });

    test.each(group)('$pipeline keeps its span open until it can be', async ({ pipeline, count }) => {
      const told = first.told.filter((event) => event.pipeline === pipeline);
      expect(count > 0).toBe(!NOTHING_TO_DAMAGE.includes(pipeline));
      expect(open.includes(pipeline)).toBe(count > 0);
      expect(told.filter(({ event }) => event === 'quarantine').length > 0).toBe(count > 0);
    });

    test('and the quarantine is empty after that', async () => {
      expect(first.complete).toBe(group.every(({ count }) => count === 0));
      expect(first.told.filter(({ event }) => event === 'quarantine')).toHaveLength(first.quarantined);
      expect(second).toEqual({ complete: true, quarantined: 0, told: [] });
      expect(await query(warehouse, 'SELECT count(*) FROM quarantine')).toEqual([['0']]);
    });
  });

  test('leaves no trace once it could be', async () => {
    const clean = join(freshFolder(), 'w');
    expect(await go(names, clean)).toEqual({ complete: true, quarantined: 0, told: [] });
    const own = ([table]: [string, string]) => !SHARED.includes(table);
    const [found, wanted] = [await hashTables(warehouse), await hashTables(clean)];
    for (const table of SHARED) {
      const count = `SELECT count(*) FROM ${table}_now`;
      expect(await query(warehouse, count), table).toEqual(await query(clean, count));
    }
    expect(Object.entries(found).filter(own)).toEqual(Object.entries(wanted).filter(own));
  });
});

test('a header without a masterchain block ends the run before its span is committed', async () => {
  const path = join(freshFolder(), 'w');
  damages = [new Damage(registry.pipeline('blocks'), 'masterchain_block_ref')];
  await expect(go(['blocks'], path)).rejects.toThrow(
    /^decode blocks: .* at \/blocks\/\d+\/masterchain_block_ref.* of GET \/blocks\?.*, without a masterchain block$/,
  );
  damages = [];
  expect(await query(path, 'SELECT count(*) FROM blocks')).toEqual([['0']]);
  expect(await go(['blocks'], path)).toEqual({ complete: true, quarantined: 0, told: [] });
});
