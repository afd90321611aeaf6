import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { Database } from '../../src/sql/database.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { declaredMacros } from '../../src/warehouse/relations/macros.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { readAnswer } from '../fixtures.ts';
import { closing, freshFolder } from '../scratch.ts';
import { copyOf, hashMarts, marts, texts } from './support.ts';

interface Block {
  readonly [name: string]: unknown;
  readonly workchain: number;
  readonly shard: string;
  readonly masterchain_block_ref: { readonly seqno: number };
}

/** Masterchain blocks of a day. */
const DAY = 100;
const FIELDS = ['workchain', 'shard', 'seqno', 'mc_block_seqno', 'root_hash', 'gen_utime', 'start_lt', 'end_lt'];

const build = (path: string, full = false) => buildMarts(path, { names: ['shard_state'], full });

// Shards split five times in the first 130 blocks, and all of them merge again until block 230.
const sandbox = await startTestSandbox({ blocks: 400, blockTimeMs: 86_400_000 / DAY });
/** All of the first 320 blocks, built at once. */
const whole = await exported('1:320');
await build(whole);

async function exported(range: string, name = 'w', path = join(freshFolder(), name)): Promise<string> {
  const report = await run({ pipelines: ['blocks'], network: sandbox.url, range, warehouse: path });
  expect(report.complete).toBe(true);
  return path;
}

/** `"seqno workchain shard ..."` of every row, by block. */
async function derived(path: string): Promise<ReadonlyMap<number, readonly string[]>> {
  const rows = await texts(path, `SELECT mc_seqno, ${FIELDS.join(', ')} FROM shard_state ORDER BY ALL`);
  const states = new Map<number, string[]>();
  for (const [seqno, ...row] of rows) {
    states.set(Number(seqno), [...(states.get(Number(seqno)) ?? []), row.join(' ')]);
  }
  return states;
}

/** The same of an answer. */
function statesOf(blocks: readonly Block[]): readonly string[] {
  return blocks
    .map((block) => {
      const own: Record<string, unknown> = { ...block, mc_block_seqno: block.masterchain_block_ref.seqno };
      own['shard'] = BigInt.asIntN(64, BigInt(`0x${block.shard}`));
      return FIELDS.map((name) => String(own[name])).join(' ');
    })
    .sort();
}

async function answered(seqno: number): Promise<readonly string[]> {
  const answer = await (await fetch(`${sandbox.url}/masterchainBlockShardState?seqno=${seqno}`)).text();
  const { blocks }: { blocks: readonly Block[] } = JSON.parse(answer);
  return statesOf(blocks);
}

const sorted = (rows: readonly string[] | undefined): readonly string[] => [...(rows ?? [])].sort();

test.each(['w', 'w.duckdb'])(
  'the state at each block is that of /masterchainBlockShardState, through splits and merges (%s)',
  async (name) => {
    const path = name === 'w' ? whole : await exported('1:140', name);
    sandbox.requests.reset();
    await build(path, true);
    expect(sandbox.requests.entries()).toEqual([]);
    const states = await derived(path);
    expect([...states.keys()]).toEqual(Array.from({ length: name === 'w' ? 320 : 140 }, (_, at) => at + 1));
    for (const [seqno, rows] of states) expect([seqno, sorted(rows)]).toEqual([seqno, await answered(seqno)]);
    const shards = [...states.values()].map(({ length }) => length);
    expect(Math.max(...shards) - Math.min(...shards)).toBeGreaterThan(2);
  },
);

test('nights that add a day each make the rows of one build, and build only days whose headers are new', async () => {
  const path = await exported('1:120');
  await build(path);
  for (const range of ['121:220', '221:320']) {
    await exported(range, 'w', path);
    await build(path);
  }
  expect((await build(path))[0]).toMatchObject({ status: 'unchanged' });
  expect(await hashMarts(path, ['shard_state'])).toEqual(await hashMarts(whole, ['shard_state']));
  await exported('321:325', 'w', path);
  const [last] = await build(path);
  expect(last?.days).toEqual(['2026-05-05']);
});

test('a shard whose newest block lies before the range, or in missing blocks, has no row until it has a new block', async () => {
  const path = await exported('101:160,190:249');
  const [mart] = await build(path);
  const states = await derived(path);
  const partial: number[] = [];
  for (const [seqno, rows] of states) {
    const truth = await answered(seqno);
    expect(truth).toEqual(expect.arrayContaining([...rows]));
    if (rows.length < truth.length) partial.push(seqno);
  }
  expect([states.has(160), states.has(161), states.has(189), states.has(190)]).toEqual([true, false, false, true]);
  expect(partial.length).toBeGreaterThan(0);
  expect(partial.every((seqno) => seqno < 106 || (seqno >= 190 && seqno < 195))).toBe(true);
  // Nothing says that these rows are all: queries warn of them.
  expect(mart?.marked).toEqual(mart?.days);
  expect(await texts(path, 'SELECT DISTINCT _coverage FROM shard_state')).toEqual([['missing']]);
  await exported('1:320', 'w', path);
  await build(path);
  expect(await hashMarts(path, ['shard_state'])).toEqual(await hashMarts(whole, ['shard_state']));
});

test('a day keeps its rows when headers before it are forgotten', async () => {
  const path = await copyOf(whole);
  await forgetRange({ warehouse: path, pipelines: ['blocks'], range: '1:150' });
  await build(path, true);
  expect(await hashMarts(path, ['shard_state'])).toEqual(await hashMarts(whole, ['shard_state']));
});

test('of recorded headers is the recorded state, where shards split and grow in one masterchain block', async () => {
  const database = closing(await Database.open());
  for (const { statement } of declaredMacros()) await database.run(await statement());
  const { blocks }: { blocks: readonly Block[] } = JSON.parse(readAnswer('blocks', 'blocks-1').toString());
  const quoted = JSON.stringify(blocks).replaceAll("'", "''");
  await database.run(`CREATE VIEW blocks AS
    SELECT b.workchain::INTEGER AS workchain, _signed(('0x' || b.shard)::UBIGINT) AS shard, b.seqno::INTEGER AS seqno,
      b.masterchain_block_ref.seqno::INTEGER AS mc_block_seqno, b.root_hash, b.gen_utime::BIGINT AS gen_utime,
      b.start_lt::BIGINT AS start_lt, b.end_lt::BIGINT AS end_lt, b.prev_blocks::JSON::VARCHAR AS prev_blocks,
      make_timestamp(b.gen_utime::BIGINT * 1000000) AS block_time, DATE '2026-05-01' AS block_date
    FROM (SELECT unnest(from_json('${quoted}', json_structure('${quoted}'))) AS b)`);
  const select = marts.find(({ name }) => name === 'shard_state')?.file.sql;
  const { rows } = await database.query(`SELECT ${FIELDS.join(', ')} FROM (${select})`);
  const state: { blocks: readonly Block[] } = JSON.parse(readAnswer('blocks', 'masterchainBlockShardState').toString());
  expect(rows.map((row) => row.join(' ')).sort()).toEqual(statesOf(state.blocks));
});
