import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { query } from '../e2e/export.ts';
import { type Passing, type Replied, startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

const PAGE = 1000;
/** More than are in memory at once. */
const ROWS = 52_500;

const registry = await loadRegistry();

let nowMs = 0;

const sandbox = await startTestSandbox({ blocks: 1100, blockMs: 1000, nowMs: () => nowMs });
afterAll(() => sandbox.close());

interface Master {
  readonly [field: string]: unknown;
}

const addressOf = (at: number): string => `0:${String(at).padStart(64, '0')}`;

/** `/jetton/masters` with so many rows; some come again in the last page. */
function longList(again: readonly Master[]): (passing: Passing) => Promise<Replied> {
  const answer = sandbox.ask('/jetton/masters?limit=1').body.toString();
  const { jetton_masters: masters }: { readonly jetton_masters: readonly Master[] } = JSON.parse(answer);
  const rows = Array.from({ length: ROWS - again.length }, (_, at) => {
    return { ...masters[0], address: addressOf(at), last_transaction_lt: '1000', total_supply: '1' };
  });
  const list = [...rows, ...again.map((row) => ({ ...masters[0], ...row }))];
  return async ({ path, query: asked, forward }) => {
    if (path !== '/jetton/masters') return forward();
    const offset = Number(asked.get('offset') ?? 0);
    return { status: 200, body: JSON.stringify({ jetton_masters: list.slice(offset, offset + PAGE) }) };
  };
}

describe('of two readings of a row far apart in a long list', () => {
  test.each(['w', 'w.duckdb'])(
    'the newer is kept, of equals the later, and the list is not taken for whole (%s)',
    async (name) => {
      sandbox.answer = longList([
        { address: addressOf(7), last_transaction_lt: '2000', total_supply: '2' },
        { address: addressOf(8), last_transaction_lt: '999', total_supply: '3' },
        { address: addressOf(9), last_transaction_lt: '1000', total_supply: '4' },
      ]);
      const warehouse = join(freshFolder(), name);
      const { complete, rows } = await run({
        ...{ pipelines: ['jetton_masters'], range: '1000:1009', network: sandbox.url, warehouse },
      });
      expect([complete, rows['jetton_masters']]).toEqual([false, ROWS - 3]);
      const held = await query(warehouse, 'SELECT count(*), count(DISTINCT address) FROM jetton_masters');
      expect(held).toEqual([[String(ROWS - 3), String(ROWS - 3)]]);
      const named = [7, 8, 9, 10].map((at) => `'${addressOf(at)}'`).join(', ');
      const sql = `SELECT total_supply, last_transaction_lt FROM jetton_masters WHERE address IN (${named}) ORDER BY address`;
      expect(await query(warehouse, sql)).toEqual([
        ['2', '2000'],
        ['1', '1000'],
        ['4', '1000'],
        ['1', '1000'],
      ]);
    },
  );
});

test.each([
  ['at first', (offset: number) => (offset === 0 ? 300 : PAGE)],
  ['always', () => 256],
])('a source that answers with fewer rows than it has, %s, is asked for the rest', async (_, mostAt) => {
  const all = Array.from({ length: 700 }, (_row, at) => addressOf(at));
  const [master] = JSON.parse(sandbox.ask('/jetton/masters?limit=1').body.toString()).jetton_masters;
  sandbox.answer = async ({ path, query: asked, forward }) => {
    if (path !== '/jetton/masters') return forward();
    const offset = Number(asked.get('offset') ?? 0);
    const rows = all.slice(offset, offset + mostAt(offset)).map((address) => ({ ...master, address }));
    return { status: 200, body: JSON.stringify({ jetton_masters: rows }) };
  };
  const warehouse = join(freshFolder(), 'w');
  const { complete, rows } = await run({
    ...{ pipelines: ['jetton_masters'], range: '1000:1009', network: sandbox.url, warehouse },
  });
  expect([complete, rows['jetton_masters']]).toEqual([true, 700]);
});

test.each([
  ['jetton_wallets', '/jetton/wallets'],
  // Read again as long as its rows can change.
  ['actions', '/actions'],
])('a reading of %s with fewer rows than the one it replaces is told', async (name, list) => {
  sandbox.answer = undefined;
  const warehouse = join(freshFolder(), 'w');
  const read = async (): Promise<readonly RunEvent[]> => {
    const events: RunEvent[] = [];
    nowMs += 1000;
    await run({
      ...{ pipelines: [name], range: '1000:1009', network: sandbox.url, warehouse },
      onEvent: (event) => event.event === 'fewer-rows' && events.push(event),
    });
    return events;
  };
  expect(await read()).toEqual([]);
  const [[before] = []] = await query(warehouse, `SELECT count(*) FROM ${name}`);
  sandbox.answer = async ({ path, forward }) => {
    const answer = await forward();
    if (path !== list) return answer;
    const { [name]: rows, ...rest } = JSON.parse(answer.body);
    return { status: 200, body: JSON.stringify({ ...rest, [name]: rows.slice(1) }) };
  };
  const [event, ...others] = await read();
  const [[rows] = []] = await query(warehouse, `SELECT count(*) FROM ${name}`);
  expect(others).toEqual([]);
  expect(event).toMatchObject({ pipeline: name, rows: Number(rows), before: Number(before) });
  expect(Number(rows)).toBeLessThan(Number(before));
  sandbox.answer = undefined;
  expect(await read()).toEqual([]);
});

describe('a list with rows of another parent', () => {
  /** Leaves out the parent of so many requests, as a source does that does not know the parameter, or a cache that does not. */
  async function read(pipeline: string, times: number, from?: string) {
    let lies = 0;
    sandbox.answer = async ({ path, query: asked, forward }) => {
      const isList = asked.has('jetton_address') || asked.has('collection_address');
      if (!isList || lies++ >= times) return forward();
      const answer = sandbox.ask(`${path}?limit=40`);
      return { status: 200, body: answer.body.toString() };
    };
    const warehouse = join(freshFolder(), 'w');
    const report = await run({
      ...{ pipelines: [pipeline], range: '1000:1009', network: sandbox.url, warehouse, from },
      effects: { ...realEffects, sleep: async () => undefined },
    });
    const listed = `SELECT count(*), count(DISTINCT address) FROM ${pipeline}`;
    return { complete: report.complete, retries: report.retries, rows: await query(warehouse, listed) };
  }

  test.each(['jetton_wallets', 'nft_items'])('is requested again (%s)', async (pipeline) => {
    const { complete, rows } = await read(pipeline, 0);
    expect(await read(pipeline, 2)).toEqual({ complete, retries: 2, rows });
  });

  test('ends the run if it never becomes right', async () => {
    await expect(read('jetton_wallets', Number.POSITIVE_INFINITY)).rejects.toMatchObject({
      code: 'wrong-rows',
      message: expect.stringMatching(
        /^audit jetton_wallets: expected rows with jetton 0:\w{64}, got one with 0:\w{64}$/,
      ),
    });
  });

  test('is compared with the parents that the user wrote, in whatever form', async () => {
    const answer = sandbox.ask('/jetton/wallets?limit=1').body.toString();
    const jetton = String(JSON.parse(answer).jetton_wallets[0].jetton).toLowerCase();
    const { complete, rows } = await read('jetton_wallets', 0, `SELECT '${jetton}' AS jetton_address`);
    expect([complete, Number(rows[0]?.[0]) > 0]).toEqual([true, true]);
  });
});

test('a source that does not know offset is not asked for ever, and its list is not taken for whole', async () => {
  sandbox.answer = async ({ path, query: asked, forward }) => {
    if (path !== '/jetton/masters') return forward();
    const answer = sandbox.ask(`/jetton/masters?limit=${asked.get('limit')}`);
    return { status: 200, body: answer.body.toString() };
  };
  sandbox.requests.targets.length = 0;
  const reading = run({
    ...{ pipelines: ['jetton_masters'], range: '1000:1009', network: sandbox.url },
    ...{ warehouse: join(freshFolder(), 'w'), effects: { ...realEffects, sleep: async () => undefined } },
  });
  const message = 'audit jetton_masters: expected other rows than in the pages before, got the same again';
  await expect(reading).rejects.toMatchObject({ code: 'wrong-rows', message });
  const asked = sandbox.requests.targets.filter((request) => request.startsWith('/jetton/masters'));
  expect(asked.length).toBe(1 + 8);
});

describe('a page of a list that has rows of another page', () => {
  /** Pages that are answered once with some of the rows further on, by their offset. */
  type Elsewhere = Readonly<Record<number, readonly [from: number, to: number]>>;

  interface List {
    readonly pipeline: string;
    /** Parameter and column of a list by parent. */
    readonly from?: string;
    readonly column?: string;
  }

  /** Reads one list of 4,100 rows. Each of its wrong pages comes so many times. */
  async function read({ pipeline, from, column = '' }: List, times: number, elsewhere: Elsewhere) {
    const path = registry.pipeline(pipeline).endpoint.replace('GET ', '');
    const [[name, found] = ['', []]] = Object.entries<readonly Master[]>(
      JSON.parse(sandbox.ask(`${path}?limit=1000`).body.toString()),
    );
    const record = found.find((each) => column === '' || each[column] !== null);
    const rows = Array.from({ length: 4100 }, (_, at) => ({ ...record, address: addressOf(at) }));
    const lies = new Map<number, number>();
    sandbox.answer = async ({ path: asked, query: parameters, forward }) => {
      if (asked !== path) return forward();
      const offset = Number(parameters.get('offset') ?? 0);
      const wrong = elsewhere[offset];
      const lie = lies.get(offset) ?? 0;
      lies.set(offset, lie + 1);
      const page = wrong === undefined || lie >= times ? [offset, offset + PAGE] : wrong;
      return { status: 200, body: JSON.stringify({ [name]: rows.slice(...page) }) };
    };
    const problems: RunEvent[] = [];
    const warehouse = join(freshFolder(), 'w');
    const { complete } = await run({
      ...{ pipelines: [pipeline], range: '1000:1009', network: sandbox.url, warehouse },
      from: from === undefined ? undefined : `SELECT '${record?.[column]}' AS ${from}`,
      onEvent: (event) => event.event === 'problem' && problems.push(event),
    });
    const [[count] = []] = await query(warehouse, `SELECT count(DISTINCT address) FROM ${pipeline}`);
    return { complete, rows: Number(count), problems };
  }

  const FULL: Elsewhere = { 0: [1500, 2500] };
  const LATER: Elsewhere = { 1000: [3000, 4000] };
  const SHORT: Elsewhere = { 0: [2700, 3014] };
  // A short page ends a list by parent.
  const LISTS: readonly (List & { readonly lies: Readonly<Record<string, Elsewhere>> })[] = [
    { pipeline: 'jetton_masters', lies: { FULL, LATER, SHORT } },
    { pipeline: 'nft_collections', lies: { FULL, LATER, SHORT } },
    { pipeline: 'jetton_wallets', from: 'jetton_address', column: 'jetton', lies: { FULL, LATER } },
    { pipeline: 'nft_items', from: 'collection_address', column: 'collection_address', lies: { FULL, LATER } },
  ];

  describe.each(LISTS)('of $pipeline', ({ lies, ...list }) => {
    test.each(Object.entries(lies))('has the list read again (%s)', async (_, elsewhere) => {
      expect(await read(list, 1, elsewhere)).toEqual({ complete: true, rows: 4100, problems: [] });
    });

    test('is told if it comes again', async () => {
      const { complete, rows, problems } = await read(list, 2, FULL);
      expect([complete, rows]).toEqual([false, 3100]);
      expect(problems).toEqual([
        expect.objectContaining({
          ...{ pipeline: list.pipeline, code: 'wrong-rows' },
          message: expect.stringMatching(/: expected a list of 4100 rows, got 3100 and copies of them$/),
        }),
      ]);
    });
  });
});

describe('items without a collection', () => {
  const alone = 'SELECT count(*), count(collection_address), count(DISTINCT address) FROM nft_items_now';

  async function go(warehouse: string) {
    const problems: RunEvent[] = [];
    sandbox.requests.targets.length = 0;
    const report = await run({
      ...{ pipelines: ['nft_items'], range: '1000:1009', network: sandbox.url, warehouse },
      effects: { ...realEffects, sleep: async () => undefined },
      onEvent: (event) => event.event === 'problem' && problems.push(event),
    });
    return { report, problems, asked: sandbox.requests.targets.filter((request) => request.startsWith('/nft/items')) };
  }

  test('come by a pass without a filter, each item once', async () => {
    sandbox.answer = undefined;
    const warehouse = join(freshFolder(), 'w');
    const { report, asked } = await go(warehouse);
    expect(report.complete).toBe(true);
    // Two pages with items, and one without, which shows that there are no more.
    expect(asked.filter((request) => !request.includes('collection_address'))).toHaveLength(3);
    const [all, inCollections, distinct] = (await query(warehouse, alone))[0]?.map(Number) ?? [];
    expect(distinct).toBe(all);
    expect(inCollections).toBeLessThan(all ?? 0);
  });

  test.each<[string, (body: string) => string]>([
    ['is that of a collection', (items) => items],
    ['has no rows', () => '{"nft_items":[]}'],
  ])('have a list that is read again if its first page %s', async (_, bodyOf) => {
    sandbox.answer = undefined;
    const whole = join(freshFolder(), 'w');
    const { asked } = await go(whole);
    const ofCollection = asked.find((request) => request.includes('collection_address')) ?? '';
    const items = sandbox.ask(ofCollection).body.toString();
    const lists: string[] = [];
    const answer: TestSandbox['answer'] = ({ path, query: parameters, forward }) => {
      if (path !== '/nft/items' || parameters.has('collection_address')) return forward();
      lists.push(parameters.get('offset') ?? '0');
      return isWrong(lists) ? { status: 200, body: bodyOf(items) } : forward();
    };
    let isWrong = (all: readonly string[]): boolean => all.length === 1;
    sandbox.answer = answer;
    const warehouse = join(freshFolder(), 'w');
    const { report, problems } = await go(warehouse);
    expect([report.complete, problems]).toEqual([true, []]);
    expect(await query(warehouse, alone)).toEqual(await query(whole, alone));

    isWrong = (all) => all.at(-1) === '0';
    const lacking = join(freshFolder(), 'w');
    const told = await go(lacking);
    expect(told.report.complete).toBe(false);
    expect(told.problems).toEqual([expect.objectContaining({ pipeline: 'nft_items', code: 'wrong-rows' })]);
  });

  test('whose list breaks off are told, and nothing of an earlier reading is lost', async () => {
    sandbox.answer = undefined;
    const warehouse = join(freshFolder(), 'w');
    await go(warehouse);
    const whole = await query(warehouse, alone);
    nowMs += 1000;
    sandbox.answer = ({ path, query: asked, forward }) =>
      path === '/nft/items' && !asked.has('collection_address') && asked.has('offset')
        ? { status: 500, body: '{"error":"timeout: context deadline exceeded"}' }
        : forward();
    const broken = await go(warehouse);
    expect(broken.problems).toHaveLength(1);
    expect(broken.problems[0]).toMatchObject({ pipeline: 'nft_items', code: 'server-error' });
    expect(await query(warehouse, alone)).toEqual(whole);
    sandbox.answer = undefined;
    const mended = await go(warehouse);
    expect([mended.report.complete, mended.problems]).toEqual([true, []]);
    expect(await query(warehouse, 'SELECT count(DISTINCT _read_at) FROM nft_items')).toEqual([['1']]);
  });
});
