import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { isSentObject, parseSent, type SentObject } from '../../src/api/client/exact-json.ts';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { openStore } from '../../src/warehouse/open-store.ts';
import type { EphemeralPipeline } from '../../src/watch/poll.ts';
import { saveSightings } from '../../src/watch/save-sightings.ts';
import { objectsIn, type Sighting } from '../../src/watch/sightings.ts';
import { type WatchEvent, type WatchOptions, watch } from '../../src/watch/watch.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { query } from '../e2e/export.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { serve } from '../http/server.ts';
import { type Answer, ask, askJson } from '../sandbox/support.ts';
import { freshFolder } from '../scratch.ts';

interface SentPending {
  readonly hash: string;
  readonly trace_id: string | null;
  readonly in_msg: { readonly source: string | null };
}

const BLOCK_MS = 400;
/** Accounts that take part in what happens next, the busiest first. */
let accounts: readonly string[];
let sandbox: TestSandbox;
let nowMs = 0;

beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 300, blockMs: BLOCK_MS, nowMs: () => nowMs });
  const future = await startTestSandbox({ blocks: 330 });
  const { transactions } = await askJson(future, '/transactions?limit=1000&sort=desc');
  await future.close();
  const seen = new Map<string, number>();
  for (const { account } of transactions as Answer[]) seen.set(account, (seen.get(account) ?? 0) + 1);
  accounts = [...seen].sort(([, a], [, b]) => b - a).map(([account]) => account);
});

/** A clock on which a poll comes with every second block, and that stands still otherwise. */
const effects = {
  ...realEffects,
  monotonic: () => nowMs,
  sleep: async (ms: number, _: AbortSignal | undefined, { ref = true } = {}) => {
    // What goes on in the background does not hold up the polls.
    if (ref) nowMs += ms;
  },
};

async function look(warehouse: string, more: Partial<WatchOptions> = {}) {
  const events: WatchEvent[] = [];
  sandbox.requests.reset();
  nowMs = 0;
  const report = await watch({
    ...{ network: sandbox.url, warehouse, accounts: accounts.slice(0, 8), everyMs: 2 * BLOCK_MS, effects, ...more },
    onEvent: (event) => {
      events.push(event);
      more.onEvent?.(event);
    },
  });
  return { report, events, asked: sandbox.requests.entries() };
}

describe.each(['w', 'w.duckdb'])('a watch that stores into %s', (name) => {
  const warehouse = join(freshFolder(), name);
  const rows = (sql: string) => query(warehouse, sql);

  test('tells what it saw when: a row for each record that is new, or has changed', async () => {
    const { report, events, asked } = await look(warehouse, { polls: 14 });
    expect(report).toMatchObject({ polls: 14, requests: asked.length, retries: 0 });
    expect(events.filter(({ event }) => event === 'trace')).toHaveLength(report.traces);
    expect(events.at(-1)).toBe(report);
    const paths = new Set(asked.map(({ path }) => path));
    expect(paths).toEqual(new Set(['masterchainInfo', 'pendingTransactions', 'pendingTraces', 'pendingActions']));
    const counts = `SELECT (SELECT count(*) FROM pending_transactions), (SELECT count(*) FROM pending_traces), (SELECT count(*) FROM pending_actions)`;
    expect(await rows(counts)).toEqual([Object.values(report.rows).map(String)]);
    expect(Math.min(...Object.values(report.rows))).toBeGreaterThan(5);
    expect(await rows('SELECT count(DISTINCT external_hash) FROM pending_traces')).toEqual([[String(report.traces)]]);
  });

  test('what became of them is a query: on chain, also where the prediction had another hash, or still under way', async () => {
    expect(await rows('SELECT DISTINCT outcome FROM pending_outcomes')).toEqual([['null']]);
    await run({
      ...{ network: sandbox.url, warehouse },
      ...{ pipelines: ['transactions', 'traces'], range: `280:${sandbox.head()}` },
    });
    const [ended] = await rows(`SELECT count(*), count(t.hash),
      count(*) FILTER (t.account = p.account AND t.mc_block_seqno = p.final_mc_block_seqno),
      count(*) FILTER (p.outcome = 'on_chain' AND p.hash = t.hash),
      count(*) FILTER (p.outcome = 'replaced' AND p.hash <> t.hash)
      FROM pending_outcomes p LEFT JOIN transactions t ON t.hash = p.final_hash WHERE outcome IS NOT NULL`);
    const [all, found, same, onChain, replaced] = (ended ?? []).map(Number);
    expect(all).toBeGreaterThan(20);
    expect([found, same, (onChain ?? 0) + (replaced ?? 0)]).toEqual([all, all, all]);
    expect(replaced).toBeGreaterThan(0);
    expect(await rows('SELECT count(*) - count(DISTINCT hash) FROM pending_outcomes')).toEqual([['0']]);
    const [[open] = []] = await rows('SELECT count(*) FROM pending_outcomes WHERE outcome IS NULL');
    expect(Number(open)).toBeGreaterThan(0);
  });

  // What follows is the same code, whatever the store.
  if (name !== 'w') return;

  test('has each state of a transaction, trace and action once', async () => {
    for (const [table, key, state] of [
      ['pending_transactions', 'hash', 'finality'],
      ['pending_traces', 'external_hash', 'transactions_order'],
      ['pending_actions', '(trace_external_hash, action_id)', 'finality'],
    ]) {
      expect(await rows(`SELECT count(*) - count(DISTINCT (${key}, seen_at)) FROM ${table}`), table).toEqual([['0']]);
      const [[states, changes] = []] = await rows(`SELECT count(DISTINCT (${key}, ${state})), count(*) FROM ${table}`);
      expect(Number(changes), table).toBeGreaterThanOrEqual(Number(states));
    }
    expect(await rows('SELECT count(*) FROM pending_traces WHERE _watch_at > seen_at')).toEqual([['0']]);
    expect(await rows('SELECT DISTINCT _extra FROM pending_transactions')).toEqual([['null']]);
  });

  test('is no gap of the tables beside it, and a second watch adds rows of its own', async () => {
    const before = Number((await rows('SELECT count(*) FROM pending_traces'))[0]?.[0]);
    const { report } = await look(warehouse, { polls: 2 });
    expect(await rows('SELECT count(*), count(DISTINCT _watch_at) FROM pending_traces')).toEqual([
      [String(before + (report.rows['pending_traces'] ?? 0)), '2'],
    ]);
    const { stderr, code } = await tonlake([
      'sql',
      'select count(*) from pending_traces, transactions',
      '--warehouse',
      warehouse,
    ]);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    const status = await tonlake(['status', 'pending_traces', '--warehouse', warehouse]);
    expect(status.stdout).toMatch(/\npending_traces\n {2}rows /);
    expect((await tonlake(['verify', '--warehouse', warehouse])).code).toBe(0);
  });
});

test('what is missing in a whole trace was dropped; in a trace of which transactions are missing, nobody knows', async () => {
  const warehouse = join(freshFolder(), 'w');
  const changed = new Set<string>();
  // The first transaction of each trace that is not its root gets a sender from whom nothing comes.
  sandbox.changeAnswers(({ path }, answer) =>
    path === '/pendingTransactions'
      ? withRows<SentPending>(answer, 'transactions', (transactions) =>
          transactions.map((one) => {
            if (one.hash === one.trace_id || one.in_msg.source === null) return one;
            const hash = Buffer.from(one.hash, 'base64').reverse().toString('base64');
            changed.add(hash);
            return { ...one, hash, in_msg: { ...one.in_msg, hash, source: `0:${'7'.repeat(64)}` } };
          }),
        )
      : undefined,
  );
  await look(warehouse, { polls: 14 });
  expect(changed.size).toBeGreaterThan(3);
  const outcomes = async () =>
    query(
      warehouse,
      `SELECT outcome, count(*) FROM pending_outcomes WHERE (in_msg->>'source') = '0:${'7'.repeat(64)}' GROUP BY 1 ORDER BY 1`,
    );
  const first = await outcomes();
  expect(first).toEqual([['null', expect.any(String)]]);
  await run({ network: sandbox.url, warehouse, pipelines: ['transactions', 'traces'], range: `280:${sandbox.head()}` });
  const dropped = (await outcomes()).find(([outcome]) => outcome === 'dropped');
  expect(Number(dropped?.[1])).toBeGreaterThan(0);
  await tonlake(['forget', 'traces', '--range', `280:${sandbox.head()}`, '--warehouse', warehouse, '--yes']);
  expect(await outcomes()).toEqual(first);
});

test('an external message is watched by its hash; nothing is asked about accounts', async () => {
  const trace = await firstTrace();
  const { report, asked } = await look(join(freshFolder(), 'w'), { accounts: [], messages: [trace], polls: 1 });
  expect(report.rows).toMatchObject({ pending_traces: 1 });
  expect(report.rows['pending_transactions']).toBeGreaterThan(0);
  expect(asked.filter(({ query: text }) => text.includes('account='))).toEqual([]);
});

test('it saves now and then, what is new since the last save; small files are merged later', async () => {
  const warehouse = join(freshFolder(), 'w');
  const { report } = await look(warehouse, { polls: 30 });
  const commits = async () =>
    (await query(warehouse, 'SELECT count(*) FROM _commits GROUP BY pipeline ORDER BY pipeline')).flat().map(Number);
  expect(Math.min(...(await commits()))).toBeGreaterThan(1);
  const digest = 'SELECT count(*), bit_xor(hash(t)) FROM pending_transactions t';
  const before = await query(warehouse, digest);
  expect(before[0]?.[0]).toBe(String(report.rows['pending_transactions']));
  expect((await tonlake(['compact', '--warehouse', warehouse])).code).toBe(0);
  expect([await commits(), await query(warehouse, digest)]).toEqual([[1, 1, 1], before]);
});

test('a warehouse that is being written by another is waited for at the end', async () => {
  const warehouse = join(freshFolder(), 'w');
  const { tables } = await loadRegistry();
  const other = await openStore({ path: warehouse, network: sandbox.url, tables, pipelines: [], effects: realEffects });
  let naps = 0;
  const patient = {
    ...effects,
    sleep: async (ms: number) => {
      nowMs += ms;
      naps++;
      if (naps === 3) await other.close();
    },
  };
  const { report } = await look(warehouse, { polls: 1, effects: patient });
  expect(naps).toBeGreaterThanOrEqual(3);
  expect(await query(warehouse, 'SELECT count(*) FROM pending_traces')).toEqual([
    [String(report.rows['pending_traces'])],
  ]);
});

test('a warehouse that is being written by another is told of once, and of again after the next save', async () => {
  const warehouse = join(freshFolder(), 'w');
  const { tables } = await loadRegistry();
  const place = { path: warehouse, network: sandbox.url, tables, pipelines: [], effects: realEffects };
  let other: Awaited<ReturnType<typeof openStore>> | undefined = await openStore(place);
  const { report, events } = await look(warehouse, {
    polls: 60,
    onEvent: async (event) => {
      if (event.event !== 'poll' || event.poll !== 40) return;
      const open = other;
      other = undefined;
      await open?.close();
    },
  });
  expect(events.filter(({ event }) => event === 'problem')).toEqual([
    {
      ...{ event: 'problem', code: 'busy' },
      message: expect.stringMatching(/^\d+ rows are not saved yet: store: warehouse \S+ is being written by process/),
    },
  ]);
  expect(report.rows['pending_traces']).toBeGreaterThan(0);
});

test.each([
  [5_001, 3],
  [100_001, 1],
])('a watch beside a busy warehouse has %i rows for at most %i polls', async (traces, kept) => {
  const warehouse = join(freshFolder(), 'w');
  const { tables } = await loadRegistry();
  const other = await openStore({ path: warehouse, network: sandbox.url, tables, pipelines: [], effects: realEffects });
  const listed = Array.from({ length: traces }, (_, at) => ({ external_hash: `trace ${at}` }));
  const body = JSON.stringify({ traces: listed });
  sandbox.changeAnswers(({ path }) =>
    path.startsWith('/pending') ? { status: 200, body: path === '/pendingTraces' ? body : '{}' } : undefined,
  );
  let polls = 0;
  const onEvent = ({ event }: WatchEvent): void => void (event === 'poll' && polls++);
  const watching = look(warehouse, { polls: 3, accounts: accounts.slice(0, 1), onEvent });
  await expect(watching).rejects.toMatchObject({ code: 'busy' });
  expect(polls).toBe(kept);
  await other.close();
});

test('a warehouse into which the head is followed is refused at the start', async () => {
  const warehouse = join(freshFolder(), 'w');
  const { tables } = await loadRegistry();
  const place = { path: warehouse, network: sandbox.url, tables, pipelines: [], effects: realEffects };
  const other = await openStore({ ...place, command: 'tonlake follow blocks' });
  await expect(look(warehouse)).rejects.toMatchObject({
    code: 'busy',
    hint: expect.stringMatching(/another --warehouse/),
  });
  expect(sandbox.requests.entries().filter(({ path }) => path.includes('pending'))).toEqual([]);
  await other.close();
});

test('a source that fails for a while is told of and survived', async () => {
  let isDown = true;
  const block = (seqno: number) => ({ seqno, gen_utime: '1777593600', root_hash: '' });
  const server = await serve((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const isInfo = pathname.endsWith('/masterchainInfo');
    const fails = isDown && !isInfo;
    const answer = isInfo ? { first: block(1), last: block(9) } : { traces: null, actions: [], transactions: null };
    response.writeHead(fails ? 502 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(fails ? { error: 'down' } : answer));
  });
  const problems: WatchEvent[] = [];
  const { report } = await look(join(freshFolder(), 'w'), {
    ...{ network: server.baseUrl, accounts: accounts.slice(0, 1), polls: 2 },
    onEvent: (event) => {
      if (event.event !== 'problem') return;
      isDown = false;
      problems.push(event);
    },
  });
  expect(problems).toMatchObject([{ message: expect.stringContaining('502') }]);
  expect(report).toMatchObject({ polls: 2, traces: 0, rows: { pending_traces: 0 } });
  expect(report.retries).toBeGreaterThan(0);
});

test('a save that is killed has committed all of its rows, or none', async () => {
  const folder = freshFolder();
  const registry = await loadRegistry();
  const record = await pendingTrace();
  const moments: string[] = [];
  const pipelines = registry.pipelines.filter(({ name }) => /^pending_tra/.test(name)) as EphemeralPipeline[];
  for (let round = 1; round <= 3; round++) {
    const onStep = async (step: string): Promise<void> => {
      if (step !== 'clear stage' && step !== 'move file') return;
      moments.push(join(folder, `${moments.length}`));
      // The catalog is written beside the commits: its drafts can go at any time.
      const filter = (path: string): boolean => !path.includes(join('_stage', 'catalog'));
      await cp(join(folder, 'w'), moments.at(-1) ?? '', { recursive: true, filter });
    };
    const store = await openStore({
      ...{
        path: join(folder, 'w'),
        network: sandbox.url,
        tables: registry.tables,
        pipelines: [],
        effects: realEffects,
        onStep,
      },
    });
    const rows = [1, 2, 3].map((n): Sighting => {
      const external_hash = Buffer.alloc(32, 3 * round + n).toString('base64');
      return { role: 'pendingTraces', record: { ...record, external_hash }, seenAt: round };
    });
    const span = { from: 1, to: round };
    await saveSightings(rows, { store, network: sandbox.url, pipelines, span, watchAt: 0, now: round });
    await store.close();
  }
  const counts: number[] = [];
  for (const path of moments) {
    const [[count] = []] = await query(path, 'SELECT count(DISTINCT external_hash) FROM pending_traces');
    counts.push(Number(count));
  }
  expect(new Set(counts)).toEqual(new Set([0, 3, 6, 9]));
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
});

async function firstTrace(): Promise<string> {
  return String((await pendingTrace())['external_hash']);
}

async function pendingTrace(): Promise<SentObject> {
  nowMs = 0;
  for (const account of accounts) {
    const { body } = await ask(sandbox, `/pendingTraces?account=${account}`);
    const answer = parseSent(Buffer.from(body), 'test');
    const [trace] = objectsIn(isSentObject(answer) ? answer['traces'] : null);
    if (trace !== undefined) return trace;
  }
  throw new Error('nothing is pending');
}

describe('tonlake follow --pending', () => {
  test.each([
    [['--pending', 'EQnobody'], /usage pendingActions: expected .*account, got "EQnobody"/],
    [['--pending', 'x', '--lag', '3s'], /--pending cannot be combined with --lag/],
    [['--pending', 'x', '--pipelines', '/nowhere'], /expected a folder of pipelines, got \/nowhere/],
    [['--pendign', 'x'], /unknown option '--pendign'; hint: did you mean --pending\?/],
    [['--pending', 'x', '--for', '30'], /expected a time above 0 such as 500ms, 30s, 5m or 1h/],
    [['--pending', 'x', '--every', '0s'], /expected a time above 0/],
  ])('refuses %o before the first request', async (words, message) => {
    sandbox.requests.reset();
    const folder = freshFolder();
    const { code, stderr } = await tonlake([
      'follow',
      ...words,
      '--network',
      sandbox.url,
      '--warehouse',
      join(folder, 'w'),
    ]);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(2);
    expect(sandbox.requests.entries()).toEqual([]);
  });

  test('ends at Ctrl-C, and keeps what it saw', async () => {
    nowMs = 0;
    const warehouse = join(freshFolder(), 'w');
    const flags = accounts.slice(0, 12).flatMap((account) => ['--pending', account]);
    const running = startTonlake(['follow', ...flags, '--network', sandbox.url, '--warehouse', warehouse, '--json']);
    await running.until('stdout', /"event":"poll"/);
    running.kill('SIGINT');
    const { code, stdout } = await running.finished;
    expect(code).toBe(130);
    const report = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(report).toMatchObject({ event: 'done' });
    expect(await query(warehouse, 'SELECT count(*) FROM pending_traces')).toEqual([
      [String(report.rows['pending_traces'])],
    ]);
    expect(report.rows['pending_traces']).toBeGreaterThan(0);
  });

  test('verify does not call predictions proven', async () => {
    const warehouse = join(freshFolder(), 'w');
    await look(warehouse, { polls: 14 });
    const { code, stdout } = await tonlake(['verify', '--warehouse', warehouse]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^proven: nothing in /);
    expect(JSON.parse((await tonlake(['verify', '--warehouse', warehouse, '--json'])).stdout)).toMatchObject({
      ...{ findings: 0, spans: {}, unproven: {} },
      entries: expect.toSatisfy((count: number) => count > 0),
    });
  });

  test('ends by itself after --for, and says how to go on', async () => {
    const warehouse = join(freshFolder(), 'w');
    const flags = ['--pending', accounts[0] ?? '', '--for', '300ms', '--every', '100ms'];
    const { code, stdout } = await tonlake(['follow', ...flags, '--network', sandbox.url, '--warehouse', warehouse]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^watched http:\/\/127\.0\.0\.1:\d+\/api\/v3: \d+ traces; /);
    expect(stdout).toContain('tonlake sql "select account, seen_at');
  });

  test('says of a sandbox whose head stands still that nothing will come', async () => {
    const flags = ['--pending', accounts[0] ?? '', '--for', '300ms', '--every', '100ms'];
    const place = ['--network', 'sandbox', '--warehouse', join(freshFolder(), 'w')];
    const { stderr } = await tonlake(['follow', ...flags, ...place]);
    expect(stderr).toMatch(/^note: the head of this sandbox stands still, .*tonlake sandbox --block-ms 400 /m);
  });

  test('a run does not take what is pending', async () => {
    const { code, stderr } = await tonlake(['run', 'pending_traces', '--network', 'sandbox', '--range', '1:2']);
    expect(code).toBe(2);
    expect(stderr).toContain('got pending_traces, which only has pending data; hint: tonlake follow ');
  });
});
