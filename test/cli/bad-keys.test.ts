import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

const warehouse = join(freshFolder(), 'w');

const run = (...words: readonly string[]) =>
  tonlake(['run', ...words, '--network', sandbox.url, '--range', '1000:1003', '--warehouse', warehouse]);

const sandbox = await startTestSandbox();
expect((await run('transactions')).code).toBe(0);

describe('keys of a lookup', () => {
  test.each([
    [
      'a column of another name',
      'account_latest',
      'select account as adress from transactions',
      'usage account_latest: expected a query with the columns address, got adress; hint: did you mean address?',
    ],
    ['no such column', 'account_latest', 'select adress from transactions', 'Referenced column "adress" not found'],
    ['no such table', 'account_latest', 'select account as address from transaction', 'Did you mean "transactions"?'],
    [
      'a table that nothing was exported of',
      'account_latest',
      'select owner as address from jetton_wallets',
      'expected rows in table jetton_wallets, got none; hint: tonlake run --warehouse',
    ],
    [
      'a view of such a table',
      'account_latest',
      'select owner as address from jetton_wallets_now',
      'expected rows in table jetton_wallets, got none',
    ],
    [
      'no rows',
      'account_latest',
      'select account as address from transactions where false',
      'usage account_latest: expected a query that finds keys, got none',
    ],
    [
      'a parent of another name',
      'jetton_wallets',
      'select distinct account as owner from transactions',
      'usage jetton_wallets: expected a query with one column, jetton_address or owner_address, got owner; hint: did you mean owner_address?',
    ],
    [
      'a list that has no parents',
      'jetton_masters',
      'select account as address from transactions',
      'expected a lookup for --from, got jetton_masters',
    ],
    [
      'a pipeline that takes none',
      'transactions',
      'select account as address from transactions',
      'expected a lookup for --from, got transactions; hint: did you mean transactions_by_message?',
    ],
  ])('with %s are refused before the first request', async (_, pipeline, from, says) => {
    sandbox.requests.reset();
    const { code, stderr } = await run(pipeline, '--from', from);
    expect(stderr).toContain(says);
    expect(stderr.match(/^error: /gm)).toHaveLength(1);
    expect(code).toBe(stderr.startsWith('error: usage') ? 2 : 1);
    expect(sandbox.requests.entries()).toEqual([]);
  });

  test('that the source refuses are told, with the reason of the first', async () => {
    const path = join(freshFolder(), 'w');
    const { code, stdout, stderr } = await tonlake([
      ...['run', 'account_latest', '--from', "select unnest(['xyz', '0:' || repeat('3', 64)]) as address"],
      ...['--network', sandbox.url, '--range', '1000:1001', '--warehouse', path],
    ]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^account_latest: 1 of 2 keys rejected, the first: .*xyz.*; see select \* from lookups/m);
    expect(stdout).not.toContain('nothing was missing');
  });

  test('that are all refused are told by every run, and end with exit code 1', async () => {
    const words = [
      ...['run', 'account_latest', '--from', "select 'xyz' as address", '--network', sandbox.url],
      ...['--range', '1000:1001', '--warehouse', join(freshFolder(), 'w')],
    ];
    for (const _ of ['first', 'second']) {
      const { code, stdout, stderr } = await tonlake(words);
      expect([code, stdout.startsWith('incomplete')]).toEqual([1, true]);
      expect(stderr).toMatch(/^account_latest: 1 of 1 keys rejected, the first: .*xyz/m);
    }
  });

  test('may come from a table that the same run brings', async () => {
    const { code } = await tonlake([
      ...['run', 'account_latest', '--from', 'select account as address from transactions limit 5'],
      ...['--network', sandbox.url, '--range', '1000:1001', '--warehouse', join(freshFolder(), 'w')],
    ]);
    expect(code).toBe(0);
  });

  test('ask for the lists of owners, beside the reading of everything', async () => {
    const owners =
      'select distinct owner as owner_address from jetton_wallets where owner is not null order by all limit 3';
    expect((await run('jetton_wallets')).code).toBe(0);
    const sql = async (query: string) =>
      (await tonlake(['sql', query, '--warehouse', warehouse, '--format', 'csv'])).stdout.trim().split('\n').slice(1);
    const [before] = await sql('select count(*) from jetton_wallets');
    sandbox.requests.reset();
    expect((await run('jetton_wallets', '--from', owners)).code).toBe(0);
    const asked = sandbox.requests.entries().filter(({ path }) => path === 'jetton/wallets');
    expect(asked).toHaveLength(3);
    expect(asked.every(({ query }) => query.includes('owner_address='))).toBe(true);
    const own = `owner in (select owner_address from (${owners}))`;
    expect(
      await sql(`select count(*) = ${before}, bool_and(_read_at > (select min(_read_at) from jetton_wallets)) filter (${own}),
      count(*) filter (${own}) > 2 from jetton_wallets_now`),
    ).toEqual(['true,true,true']);
    // The lists of some owners are no reading of all: what is missing is not done by them, and nothing is taken away.
    expect(await sql(`select count(*) > ${before} from jetton_wallets`)).toEqual(['true']);
  });

  test('are not taken by a pipeline of another name', async () => {
    sandbox.requests.reset();
    const { code, stderr } = await run('jetton_mastrs');
    expect(stderr).toContain('got "jetton_mastrs"; hint: did you mean jetton_masters?');
    expect([code, sandbox.requests.entries().length]).toEqual([2, 0]);
  });
});
