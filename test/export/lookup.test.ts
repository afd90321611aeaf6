import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, type RunOptions, run } from '../../src/export/run.ts';
import { PARTIAL } from '../../src/warehouse/index.ts';
import { query } from '../e2e/export.ts';
import { type Passing, type Replied, startTestSandbox } from '../faults/test-sandbox.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

const RANGE = '1000:1019';
const FULL = 1000;
const KEYS = ['A', 'B', 'C'].map((letter) => `0:${letter.repeat(64)}`);
const [PAGED = '', ...OTHERS] = KEYS;

const registry = await loadRegistry();

const sandbox = await startTestSandbox({ blocks: 1100 });
afterAll(() => sandbox.close());

/** Runs without waiting between attempts. */
async function go(pipelines: readonly string[], warehouse: string, more: Partial<RunOptions> = {}) {
  const events: RunEvent[] = [];
  sandbox.requests.targets.length = 0;
  const report = await run({
    ...{ pipelines, range: RANGE, network: sandbox.url, warehouse, registry },
    effects: { ...realEffects, sleep: async () => undefined },
    onEvent: (event) => events.push(event),
    ...more,
  });
  return { report, problems: events.filter(({ event }) => event === 'problem'), events };
}

test('keys are requested in order, so that runs send the same requests', async () => {
  const from = [...KEYS].reverse().map((key) => `SELECT '${key}' AS address`);
  const warehouse = join(freshFolder(), 'w');
  const { report, events } = await go(['account_latest'], warehouse, { from: from.join(' UNION ALL ') });
  const requests = sandbox.requests.targets.filter((target) => target.startsWith('/accountStates'));
  expect(requests.map((target) => new URLSearchParams(target.split('?')[1]).getAll('address'))).toEqual([
    KEYS,
    // No row came, so they are requested once more.
    KEYS,
  ]);
  // The source does not know them: the report says so, and the entry.
  expect(report.unknownKeys).toEqual({ account_latest: KEYS.length });
  expect(events).toContainEqual(
    expect.objectContaining({ event: 'unknown-keys', keys: KEYS.length, unknown: KEYS.length }),
  );
  const reader = await openWarehouse(warehouse);
  expect((await reader.ledger()).map(({ pipeline, unknownKeys }) => [pipeline, unknownKeys])).toContainEqual([
    'account_latest',
    KEYS.length,
  ]);
  await reader.close();
});

test('keys of which the source knows none do not keep a later run from others', async () => {
  const warehouse = join(freshFolder(), 'w');
  await go(['account_latest'], warehouse, { from: `SELECT '${PAGED}' AS address` });
  const { report } = await go(['account_latest'], warehouse);
  expect(report.complete).toBe(true);
  expect(report.rows['account_latest']).toBeGreaterThan(0);
});

test('keys that the user gave are not complete if the run is stopped before it has asked for them', async () => {
  const from = KEYS.map((key) => `SELECT '${key}' AS address`).join(' UNION ALL ');
  const stop = new AbortController();
  const { report } = await go(['account_latest'], join(freshFolder(), 'w'), {
    ...{ from, stop: stop.signal },
    onEvent: (event) => {
      if (event.event === 'start' && event.pipeline === 'account_latest') stop.abort();
    },
  });
  expect([report.complete, report.rows]).toEqual([false, expect.objectContaining({ account_latest: 0 })]);
});

test('a key whose record cannot be decoded is requested again by the next run, and no other', async () => {
  const warehouse = join(freshFolder(), 'w');
  const range = '1000:1003';
  await go(['transactions'], warehouse, { range });
  const accounts = await query(warehouse, 'SELECT DISTINCT account FROM transactions ORDER BY ALL');
  const [[bad = ''] = []] = accounts;
  sandbox.answer = async ({ path, forward }) => {
    const answer = await forward();
    if (path !== '/accountStates') return answer;
    const read = JSON.parse(answer.body);
    for (const account of read.accounts) if (account.address === bad) account.balance = 'much';
    return { ...answer, body: JSON.stringify(read) };
  };
  const { report } = await go(['account_latest'], warehouse, { range });
  sandbox.answer = undefined;
  expect(report).toMatchObject({ complete: false, quarantined: 1 });
  const read = 'SELECT DISTINCT address FROM account_latest ORDER BY ALL';
  expect(await query(warehouse, read)).toEqual(accounts.slice(1));
  const again = await go(['account_latest'], warehouse, { range });
  expect(again.report).toMatchObject({ complete: true, rows: { account_latest: 1 } });
  expect(await query(warehouse, read)).toEqual(accounts);
});

test('a record that is nested deeply keeps no key from being read', async () => {
  const warehouse = join(freshFolder(), 'w');
  const attributes = `${'['.repeat(100_000)}1${']'.repeat(100_000)}`;
  sandbox.answer = async ({ path, query: asked, forward }) => {
    if (path !== '/metadata') return forward();
    const entries = asked.getAll('address').map((address, at) => {
      const extra = at === 0 ? `{"attributes":${attributes}}` : '{}';
      return `"${address}":{"is_indexed":true,"token_info":[{"type":"nft_items","valid":true,"name":"x","extra":${extra}}]}`;
    });
    return { status: 200, body: `{${entries.join(',')}}` };
  };
  const from = KEYS.map((key) => `SELECT '${key}' AS address`).join(' UNION ALL ');
  const { report, problems } = await go(['token_metadata'], warehouse, { from });
  sandbox.answer = undefined;
  expect([report.complete, problems]).toEqual([true, []]);
  expect(await query(warehouse, 'SELECT address, length(extra) FROM token_info ORDER BY ALL')).toEqual(
    KEYS.map((key, at) => [key, at === 0 ? String(attributes.length + 15) : '2']),
  );
});

test('addresses in lower case are stored as all others, in rows of blocks and in lookups', async () => {
  sandbox.answer = async ({ forward }) => {
    const { body, ...rest } = await forward();
    return { ...rest, body: body.replace(/"-?\d+:[0-9A-F]{64}"/g, (address) => address.toLowerCase()) };
  };
  const warehouse = join(freshFolder(), 'w');
  const range = '1000:1003';
  const { problems } = await go(['transactions', 'account_latest', 'address_book'], warehouse, { range });
  sandbox.answer = undefined;
  expect(problems).toEqual([]);
  const accounts = 'SELECT DISTINCT account FROM transactions ORDER BY ALL';
  const upper = await query(warehouse, accounts);
  expect(upper.filter(([address = '']) => !/^-?\d:[0-9A-F]{64}$/.test(address))).toEqual([]);
  for (const table of ['account_latest', 'address_book']) {
    expect(await query(warehouse, `SELECT address FROM ${table} WHERE address IN (${accounts}) ORDER BY ALL`)).toEqual(
      upper,
    );
  }
});

const contract = (owner: string, at: number) => ({
  address: `0:${String(at).padStart(10, '0')}${owner.slice(-54)}`,
  owner_address: owner,
});

/** `/vesting` where one owner has 1,500 contracts and the others one each; the second page of the first is answered otherwise. */
function vesting(second: Replied): (passing: Passing) => Replied | Promise<Replied> {
  return ({ path, query: asked, forward }) => {
    if (path !== '/vesting') return forward();
    const owners = asked.getAll('wallet_address');
    const offset = Number(asked.get('offset') ?? 0);
    if (offset > 0) return second;
    const counts = owners.map((owner) => [owner, owner === PAGED ? 1500 : 1] as const);
    const rows = counts.flatMap(([owner, count]) => Array.from({ length: count }, (_, at) => contract(owner, at)));
    return { status: 200, body: JSON.stringify({ vesting_contracts: rows.slice(offset, offset + FULL) }) };
  };
}

describe('a key whose second page fails leaves none of its rows', () => {
  const from = KEYS.map((key) => `SELECT '${key}' AS wallet_address`).join(' UNION ALL ');
  const owners = `SELECT owner_address, count(*) FROM vesting GROUP BY ALL ORDER BY ALL`;
  const outcomes = `SELECT "key", error IS NULL FROM lookups WHERE pipeline = 'vesting' ORDER BY ALL`;
  const rest = { status: 200, body: JSON.stringify({ vesting_contracts: [contract(PAGED, 5000)] }) };

  test.each([
    ['for now, and is read again by the next run', { status: 500, body: '{"error":"timeout"}' }, []],
    ['for good', { status: 422, body: '{"error":"no such page"}' }, [[PAGED, 'false']]],
  ] as const)('%s', async (_, second, kept) => {
    const warehouse = join(freshFolder(), 'w');
    sandbox.answer = vesting(second);
    await go(['vesting'], warehouse, { from });
    expect(await query(warehouse, owners)).toEqual(OTHERS.map((owner) => [owner, '1']));
    expect(await query(warehouse, outcomes)).toEqual([...kept, ...OTHERS.map((owner) => [owner, 'true'])]);
    sandbox.answer = vesting(rest);
    const { report } = await go(['vesting'], warehouse, { from });
    expect(report.rows['vesting']).toBe(kept.length === 0 ? 1001 : 0);
  });
});

test('a page of a long list in the place of another leaves no key half read', async () => {
  const from = `SELECT '${PAGED}' AS wallet_address`;
  const rows = Array.from({ length: 4500 }, (_, at) => contract(PAGED, at));
  let lies = 1;
  sandbox.answer = ({ path, query: asked, forward }) => {
    if (path !== '/vesting') return forward();
    const offset = Number(asked.get('offset') ?? 0);
    const start = offset === FULL && lies-- > 0 ? 3 * FULL : offset;
    return { status: 200, body: JSON.stringify({ vesting_contracts: rows.slice(start, start + FULL) }) };
  };
  const warehouse = join(freshFolder(), 'w');
  const first = await go(['vesting'], warehouse, { from });
  const message = 'audit vesting: expected a list of 4500 rows, got 3500 and copies of them';
  expect([first.report.complete, first.problems]).toEqual([false, [expect.objectContaining({ message })]]);
  const next = await go(['vesting'], warehouse, { from });
  expect([next.report.complete, next.problems]).toEqual([true, []]);
  expect(await query(warehouse, 'SELECT count(DISTINCT address) FROM vesting')).toEqual([['4500']]);
});

describe('an endpoint that fails', () => {
  const PATH = '/estimateFee';
  const left = { status: 500, body: '{"error":"ton-http-api endpoint is not specified"}' };
  const passing = { status: 500, body: '{"error":"timeout: context deadline exceeded"}' };
  const asked = () => sandbox.requests.targets.filter((request) => request === PATH).length;
  const sqlOf = (from: string, to: string): string => {
    const { walk } = registry.pipeline('fee_estimates');
    return walk.kind === 'lookup' ? walk.query.replace('$from', from).replace('$to', to) : '';
  };
  let warehouse: string;
  let keys: number;

  beforeAll(async () => {
    sandbox.answer = undefined;
    warehouse = join(freshFolder(), 'w');
    await go(['transactions'], warehouse);
    keys = (await query(warehouse, sqlOf('1000', '1019'))).length;
    expect(keys).toBeGreaterThan(30);
  });

  test.each([
    ['by a part that the server lacks', left, 3],
    ['in a way that could pass', passing, 8],
  ])('for every key alike, %s, is given up for the run with one line', async (_, fault, attempts) => {
    sandbox.answer = ({ path, forward }) => (path === PATH ? fault : forward());
    const { report, problems } = await go(['fee_estimates'], warehouse, { concurrency: 2 });
    expect(asked()).toBeLessThanOrEqual(attempts * 4);
    expect(report.complete).toBe(false);
    expect(problems).toHaveLength(1);
    const { error } = JSON.parse(fault.body) as { readonly error: string };
    const said = `gave up after 3 keys failed in the same way, ${keys} of ${keys} keys not read: 500 (${error})`;
    expect(problems[0]).toMatchObject({ message: `source fee_estimates 1000:1019: ${said}` });
  });

  test('in the middle of the keys of a span loses those of the last requests, and only the rest is asked for again', async () => {
    sandbox.answer = undefined;
    const path = join(freshFolder(), 'w');
    const range = '900:1099';
    await go(['transactions'], path, { range });
    const read: string[] = [];
    sandbox.answer = ({ path: target, body, forward }) => {
      if (target !== PATH) return forward();
      read.push(body);
      return read.length > 250 ? { status: 401, body: '{"error":"API key expired"}' } : forward();
    };
    await expect(go(['fee_estimates'], path, { range })).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await query(path, 'SELECT count(*) FROM lookups')).toEqual([['200']]);
    expect(await query(path, `SELECT count(*) FROM fee_estimates`)).toEqual([['200']]);
    // None of the blocks is done before all of their keys are read.
    const scopes = async () => {
      const reader = await openWarehouse(path);
      const own = (await reader.ledger()).filter(({ pipeline }) => pipeline === 'fee_estimates');
      await reader.close();
      return own.map(({ scope }) => scope);
    };
    expect(await scopes()).toEqual([PARTIAL]);
    const first = new Set(read.splice(0).slice(0, 200));
    sandbox.answer = ({ path: target, body, forward }) => {
      if (target === PATH) read.push(body);
      return forward();
    };
    const { report } = await go(['fee_estimates'], path, { range });
    expect(report.complete).toBe(true);
    expect(read.filter((body) => first.has(body))).toEqual([]);
    expect((await scopes()).at(-1)).toBe(undefined);
    expect(await query(path, `SELECT count(*), count(DISTINCT "key") FROM lookups`)).toEqual([
      [String(200 + read.length), String(200 + read.length)],
    ]);
  });

  test.each([
    ['of the query that is declared', (_sql: string) => undefined],
    ['that the user gave', (sql: string) => sql],
  ])('for keys %s is reported by a run that is stopped before it has asked for all of them', async (_, fromOf) => {
    sandbox.answer = undefined;
    const path = join(freshFolder(), 'w');
    const range = '900:1099';
    await go(['transactions'], path, { range });
    const bodies: string[] = [];
    sandbox.answer = ({ path: target, body, forward }) => {
      if (target !== PATH) return forward();
      if (!bodies.includes(body)) bodies.push(body);
      if (body === bodies[0]) return passing;
      return body === bodies[1] ? { status: 422, body: '{"error":"wrong body"}' } : forward();
    };
    const stop = new AbortController();
    const seen: RunEvent[] = [];
    const from = fromOf(sqlOf('900', '1099'));
    const { report } = await go(['fee_estimates'], path, {
      ...{ range, from, stop: stop.signal },
      onEvent: (event) => {
        seen.push(event);
        if (event.event === 'span') stop.abort();
      },
    });
    expect(report.complete).toBe(false);
    expect(bodies.length).toBeLessThan(220);
    expect(seen.filter(({ event }) => event === 'problem')).toEqual([
      expect.objectContaining({
        pipeline: 'fee_estimates',
        message: expect.stringContaining('context deadline exceeded'),
      }),
    ]);
    const refused = { event: 'refused-keys', keys: 199, refused: 1, message: expect.stringContaining('wrong body') };
    expect(seen.filter(({ event }) => event === 'refused-keys')).toEqual(
      from === undefined ? [] : [expect.objectContaining(refused)],
    );
  });

  test('for a moment is asked again, as often as ever', async () => {
    const failed = new Map<string, number>();
    sandbox.answer = ({ path, body, forward }) => {
      if (path !== PATH) return forward();
      const times = failed.get(body) ?? 0;
      failed.set(body, times + 1);
      return times < 7 ? passing : forward();
    };
    const { report, problems } = await go(['fee_estimates'], warehouse, { range: '1000:1004' });
    expect([report.complete, problems]).toEqual([true, []]);
    expect(asked()).toBe(8 * failed.size);
  });

  test('for some keys only is asked for all others', async () => {
    let at = 0;
    const bad = new Set<string>();
    sandbox.answer = ({ path, body, forward }) => {
      if (path === PATH && at++ % 4 === 1) bad.add(body);
      return bad.has(body) ? passing : forward();
    };
    const { report, problems } = await go(['fee_estimates'], warehouse);
    expect(bad.size).toBeGreaterThan(3);
    expect(problems).toHaveLength(1);
    expect(report.complete).toBe(false);
    expect(Number((await query(warehouse, 'SELECT count(*) FROM fee_estimates'))[0]?.[0])).toBe(keys - bad.size);
  });

  test.each(['account_latest', 'wallet_states', 'address_book'])(
    'by rows of a key that was not requested is asked again (%s)',
    async (pipeline) => {
      let lies = 2;
      sandbox.answer = async ({ query: asked, forward }) => {
        const answer = await forward();
        const [first = ''] = asked.getAll('address');
        return first === '' || lies-- <= 0 ? answer : { ...answer, body: answer.body.replaceAll(first, PAGED) };
      };
      const { report } = await go([pipeline], warehouse);
      expect([report.complete, report.retries]).toEqual([true, 2]);
      const sql = `SELECT count(*), count(*) FILTER (address NOT IN (SELECT account FROM transactions)) FROM ${pipeline}`;
      const [[rows, foreign] = []] = await query(warehouse, sql);
      expect([Number(rows) > 0, foreign]).toEqual([true, '0']);
    },
  );

  test('by rows of a key that was never requested is given up with one line', async () => {
    sandbox.answer = async ({ path, forward }) => {
      const answer = await forward();
      if (path !== '/multisig/orders') return answer;
      return { ...answer, body: answer.body.replace(/"multisig_address":"0:\w+"/, `"multisig_address":"${PAGED}"`) };
    };
    await go(['multisig_wallets'], warehouse);
    const [[some] = []] = await query(warehouse, 'SELECT count(*) FROM multisig_wallets');
    expect(Number(some)).toBeGreaterThan(0);
    const { report, problems } = await go(['multisig_orders'], warehouse);
    expect(report.complete).toBe(false);
    expect(problems).toMatchObject([
      {
        code: 'wrong-rows',
        message: expect.stringMatching(
          /audit multisig_orders: expected rows with multisig_address 0:\w+(, or \d+ others)?, got one with 0:A+/,
        ),
      },
    ]);
  });
});
