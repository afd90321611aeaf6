import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
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
let network: string;
let damage: Damage | undefined;
let warehouse: string;

beforeAll(async () => {
  const sandbox = await startTestSandbox();
  warehouse = join(freshFolder(), 'w');
  network = sandbox.url;
  sandbox.answer = async ({ path, forward }) => {
    const answer = await forward();
    const parsed: unknown = JSON.parse(answer.body);
    if (damage?.paths.includes(path) === true) damage.apply(parsed);
    return { ...answer, body: JSON.stringify(parsed) };
  };
});

async function go(pipelines: readonly string[], into: string) {
  const events: RunEvent[] = [];
  const options = { network, range: RANGE, warehouse: into, pipelines };
  const { complete, quarantined } = await run({ ...options, onEvent: (event) => events.push(event) });
  const told = events.filter(({ event }) => event === 'problem' || event === 'quarantine');
  return { complete, quarantined, told };
}

/** A value of a column that must have one becomes an object, in one record that has the column's field, whenever it comes. */
class Damage {
  readonly paths: readonly string[];
  count = 0;
  private readonly field: string | undefined;
  private victim: string | undefined;

  constructor({ endpoint, walk, tables: [table] }: PipelineDef, field?: string) {
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

describe.sequential('a record that cannot be decoded', () => {
  test.each(names)('of %s keeps its span open until it can be', async (name) => {
    damage = new Damage(registry.pipeline(name));
    const { complete, quarantined, told } = await go([name], warehouse);
    const { count } = damage;
    damage = undefined;
    expect(count > 0).toBe(!NOTHING_TO_DAMAGE.includes(name));
    expect(complete).toBe(count === 0);
    expect(quarantined > 0).toBe(count > 0);
    expect(told.filter(({ event }) => event === 'quarantine')).toHaveLength(quarantined);
    expect(await go([name], warehouse)).toEqual({ complete: true, quarantined: 0, told: [] });
    expect(await query(warehouse, 'SELECT count(*) FROM quarantine')).toEqual([['0']]);
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
  damage = new Damage(registry.pipeline('blocks'), 'masterchain_block_ref');
  await expect(go(['blocks'], path)).rejects.toThrow(
    /^decode blocks: .* at \/blocks\/\d+\/masterchain_block_ref.* of GET \/blocks\?.*, without a masterchain block$/,
  );
  damage = undefined;
  expect(await query(path, 'SELECT count(*) FROM blocks')).toEqual([['0']]);
  expect(await go(['blocks'], path)).toEqual({ complete: true, quarantined: 0, told: [] });
});
