import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { type ForgetOptions, forgetRange } from '../../src/verify/forget.ts';
import { tonlake } from '../cli.ts';
import { damage } from '../marts/support.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf, entriesOf, fillLedger, loseEntry, verify } from '../verify/support.ts';
import { hashTables, query } from './export.ts';

const LISTS = ['actions', 'message_links', 'traces'];

const sandbox = await startSandbox({ blocks: 4000 });

afterAll(() => sandbox.close());

async function bring(warehouse: string, range: string, pipelines: readonly string[] = ['transactions', ...LISTS]) {
  return run({ pipelines, network: sandbox.url, range, warehouse });
}

describe.each(['w', 'w.duckdb'])('forgetting a range of %s', (name) => {
  let source: string;
  let before: Awaited<ReturnType<typeof hashTables>>;

  beforeAll(async () => {
    source = join(freshFolder(), name);
    for (const range of ['1000:1009', '1010:1014', '1015:1024']) await bring(source, range);
    before = await hashTables(source);
  });

  const copy = (from = source): string => copyOf(from);
  const forget = (warehouse: string, more: Partial<ForgetOptions> = {}) =>
    forgetRange({ warehouse, pipelines: ['transactions', 'blocks', 'traces', 'actions'], range: '1005:1017', ...more });
  const left = (warehouse: string) =>
    query(
      warehouse,
      `select count(*) filter (mc_block_seqno between 1005 and 1017), count(distinct mc_block_seqno),
        (select count(*) from transactions where mc_block_seqno between 1005 and 1017),
        (select count(*) from traces where mc_seqno_end between 1005 and 1017),
        (select count(*) from actions where trace_mc_seqno_end between 1005 and 1017) from blocks`,
    );

  test('blocks of a lost entry that the source no longer serves are given up', async () => {
    const path = copy();
    const entries = await entriesOf(path);
    await loseEntry(
      path,
      entries.find(({ pipeline, span }) => pipeline === 'transactions' && span.from === 1010)?.number ?? 0,
    );
    await fillLedger(path);
    const lost = { kind: 'not-done', pipeline: 'transactions', span: { from: 1010, to: 1014 } };
    expect((await verify(path)).findings).toContainEqual(expect.objectContaining(lost));
    const report = await forget(path, { pipelines: ['transactions', 'traces', 'actions'], range: '1010:1014' });
    expect(report.spans['transactions']).toEqual([{ from: 1010, to: 1014 }]);
    expect((await verify(path)).findings).toEqual([]);
    expect(await bring(path, '1010:1014')).toMatchObject({ complete: true });
    expect(await hashTables(path)).toEqual(before);
  });

  test('takes rows and the fact that they are done, also out of the middle of entries', async () => {
    const path = copy();
    const report = await forget(path);
    expect(report).toMatchObject({ event: 'forgotten', spans: { transactions: [{ from: 1005, to: 1017 }] } });
    expect(report.rows['transactions']).toBeGreaterThan(0);
    expect(await left(path)).toEqual([['0', '12', '0', '0', '0']]);
    const { report: verified, kinds } = await verify(path, { deep: true });
    expect({ kinds, proven: verified.proven }).toEqual({ kinds: [], proven: true });
    expect(verified.spans['transactions']).toEqual([
      { from: 1000, to: 1004 },
      { from: 1018, to: 1024 },
    ]);
    expect((await verify(path, { range: '1000:1024' })).kinds).toContain('not-done');

    const again = await bring(path, '1000:1024');
    expect(again.complete).toBe(true);
    expect(await hashTables(path)).toEqual(before);
    expect((await verify(path, { range: '1000:1024', deep: true })).kinds).toEqual([]);
  });

  test('ends as everything or nothing, wherever it is cut short', async () => {
    const pipelines = ['transactions', 'blocks'];
    // Entries of lists would be there in the same way at each step, and take most of the time.
    const plain = join(freshFolder(), name);
    for (const range of ['1003:1007', '1008:1012', '1013:1019']) await bring(plain, range, ['transactions']);
    const before = await hashTables(plain);
    const gone = copy(plain);
    await forget(gone, { pipelines });
    const after = await hashTables(gone);
    expect(after).not.toEqual(before);
    await forget(gone, { pipelines });
    expect(await hashTables(gone)).toEqual(after);
    const steps: string[] = [];
    await forget(copy(plain), {
      pipelines,
      onStep: async (step) => {
        steps.push(step);
      },
    });
    const decisive = ['put entry', 'retire files', 'insert entry', 'commit', 'clear stage'];
    const moments = new Set([
      ...['move file', 'put entry', 'retire files', 'insert rows'].map((step) => steps.indexOf(step)),
      ...decisive.map((step) => steps.lastIndexOf(step)),
    ]);
    moments.delete(-1);
    const outcomes = new Set<string>();
    for (const last of moments) {
      const path = copy(plain);
      let at = 0;
      const cut = forget(path, {
        pipelines,
        onStep: async (step) => {
          if (at++ === last) throw new Error(`cut short before ${step}`);
        },
      });
      await cut.catch(() => undefined);
      const hashes = await hashTables(path);
      const isBefore = JSON.stringify(hashes) === JSON.stringify(before);
      if (!isBefore) expect(hashes).toEqual(after);
      outcomes.add(isBefore ? 'before' : 'after');
      expect((await verify(path)).kinds).toEqual([]);
      if (!isBefore) continue;
      await forget(path, { pipelines });
      expect(await hashTables(path)).toEqual(after);
    }
    expect([...outcomes].sort()).toEqual(['after', 'before']);
  });

  // Of files, the bytes are compared.
  if (name === 'w.duckdb')
    test('changes nothing where the rows that stay are not those that were committed', async () => {
      const path = copy();
      await damage(path, 'DELETE FROM _rows.transactions WHERE lt = (SELECT max(lt) FROM _rows.transactions)');
      const damaged = await hashTables(path);
      await expect(forget(path)).rejects.toMatchObject({ code: 'damaged' });
      expect(await hashTables(path)).toEqual(damaged);
    });

  // What follows is the same code, whatever the store.
  if (name !== 'w') return;

  test('is refused for rows that others need, and tells of those that stay', async () => {
    const path = copy();
    await expect(forget(path, { pipelines: ['blocks'] })).rejects.toMatchObject({
      message: expect.stringMatching(
        /^usage: expected pipelines that no other pipeline needs, got blocks: transactions /,
      ),
      hint: 'tonlake forget blocks transactions --range 1005:1017',
    });
    await expect(forget(path, { pipelines: ['jetton_masters'] })).rejects.toThrow(
      'usage: expected a pipeline exported by blocks, got jetton_masters',
    );
    await expect(forget(path, { pipelines: ['message_links'] })).rejects.toThrow(
      /^usage: expected a range that includes all or none of message_links .*, got a part of it$/,
    );
    expect(await hashTables(path)).toEqual(before);
    const { staying } = await forget(path, { isDry: true });
    expect(staying).toEqual(['message_links']);
    expect(await hashTables(path)).toEqual(before);
  });

  test('tells on the command line what would go, and removes it with --yes', async () => {
    const path = copy();
    expect((await tonlake(['build', 'transactions_daily', 'accounts', '--warehouse', path])).code).toBe(0);
    const args = ['forget', 'transactions', '--range', '1010:1014', '--warehouse', path];
    const { code, stdout } = await tonlake(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^would remove: transactions 1010:1014 in .*\n {2}rows: .*\d transactions/);
    expect(stdout).toMatch(/stay, although .*: .*actions/);
    expect(stdout).toContain(
      '\n  built from them: accounts, transactions_daily; marts by day keep their days, others are rebuilt\n',
    );
    expect((await verify(path, { range: '1000:1024' })).kinds).toEqual([]);
    const removed = await tonlake([...args, '--yes']);
    expect(removed.stdout).toMatch(
      /^removing: transactions 1010:1014 in [\s\S]*\nforgotten: transactions 1010:1014\n$/,
    );
    expect(removed.stdout).not.toContain('nothing was changed');
    expect((await verify(path)).kinds).toEqual([]);
    expect((await tonlake(args)).stdout).toMatch(/^nothing to forget in .*\n$/);
    expect((await tonlake([...args, '--yes'])).stdout).toMatch(/^nothing to forget in .*\n$/);
  });
});
