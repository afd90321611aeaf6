import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { tonlake } from '../cli.ts';
import { query } from '../e2e/export.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, copyOf, fileOf, repair, replaceRows, verify } from './support.ts';

const LISTS = ['message_links', 'traces', 'actions', 'jetton_transfers', 'jetton_burns'];

// Far behind the head, so that nothing is written late.
const sandbox = await startTestSandbox({ blocks: 4000, hasTrueHashes: true });
const warehouse = `${freshFolder()}/w`;
await run({ pipelines: LISTS, network: sandbox.url, range: '1000:1059', warehouse });
await run({ pipelines: ['transactions'], network: sandbox.url, range: '1000:1059', warehouse });

test('lists that agree with transactions are proven', async () => {
  const { findings, report } = await verify(warehouse);
  expect(findings).toEqual([]);
  expect(Object.keys(report.spans)).toEqual(expect.arrayContaining([...LISTS, 'transactions']));
});

const MIDDLE = (column: string): string =>
  `(SELECT ${column} FROM old ORDER BY ${column} OFFSET (SELECT count(*) // 2 FROM old) LIMIT 1)`;
const WRONG = `'${'A'.repeat(43)}='`;

const ACCOUNT = `'0:${'1'.repeat(64)}'`;
/** Columns that transactions and messages have, too, and other values of them. */
const LINK_VALUES = [
  ['source', ACCOUNT],
  ['destination', ACCOUNT],
  ['value', 'value + 1'],
  ['created_at', 'created_at + 1'],
] as const;
const TRACE_VALUES = ['end_lt', 'end_utime', 'start_lt', 'start_utime'].map((name) => [name, `${name} - 1`] as const);
const ORDER_VALUES = [
  ['tx_lt', 'tx_lt + 1'],
  ['tx_now', 'tx_now + 1'],
  ['tx_aborted', 'true'],
  ['jetton_wallet', ACCOUNT],
] as const;

/** The middle row of a file with another value. */
const otherValue = (pipeline: string, key: string, [column, value]: readonly [string, string], expected: RegExp) => ({
  name: `${column} of ${pipeline}`,
  pipeline,
  select: `SELECT * REPLACE (CASE WHEN ${key} = ${MIDDLE(key)} THEN ${value} ELSE ${column} END AS ${column}) FROM old`,
  expected: new RegExp(expected.source.replace('%', column)),
  got: /^another/,
});

/** Wrong rows, in one copy where they are of different lists. */
const WRONG_ROWS = [
  ...[0, 1, 2, 3].map((at) => [
    otherValue('message_links', 'created_lt', LINK_VALUES[at] ?? ['', ''], /^the (\w+, )*%(, \w+)* of message/),
    otherValue('traces', 'trace_id', TRACE_VALUES[at] ?? ['', ''], /^the % of trace/),
    otherValue('jetton_transfers', 'tx_hash', ORDER_VALUES[at] ?? ['', ''], /^the % of transaction/),
  ]),
  [
    {
      name: 'a link is missing',
      pipeline: 'message_links',
      select: `SELECT * FROM old WHERE created_lt <> ${MIDDLE('created_lt')}`,
      expected: /^message \S+ sent by \S+$/,
      got: /^no link/,
    },
    {
      name: 'a trace with another number of transactions',
      pipeline: 'traces',
      select: `SELECT * REPLACE (CASE WHEN trace_id = ${MIDDLE('trace_id')} THEN 99 ELSE transactions END AS transactions) FROM old`,
      expected: /^99 transactions of trace/,
      got: /^\d+$/,
    },
    {
      name: 'an action of no trace',
      pipeline: 'actions',
      select: `SELECT * REPLACE (CASE WHEN action_id = ${MIDDLE('action_id')} THEN ${WRONG} ELSE trace_id END AS trace_id) FROM old`,
      expected: /^trace A+= of an action/,
      // The action can have several transactions.
      got: /^none(, and \d+ more)?$/,
    },
    {
      name: 'a transfer of no transaction',
      pipeline: 'jetton_transfers',
      select: `SELECT * REPLACE (CASE WHEN tx_hash = ${MIDDLE('tx_hash')} THEN ${WRONG} ELSE tx_hash END AS tx_hash) FROM old`,
      expected: /^transaction A+= that received f8a7ea5/,
      got: /^none$/,
    },
  ],
  [
    {
      name: 'a link of no message',
      pipeline: 'message_links',
      select: `SELECT * REPLACE (CASE WHEN created_lt = ${MIDDLE('created_lt')} THEN ${WRONG} ELSE msg_hash END AS msg_hash) FROM old`,
      expected: /sent by a listed transaction/,
      got: /=, and/,
    },
    {
      name: 'an action of no transaction',
      pipeline: 'actions',
      select: `SELECT * REPLACE (CASE WHEN start_lt = ${MIDDLE('start_lt')} THEN '[${WRONG.replaceAll("'", '"')}]' ELSE transactions END AS transactions) FROM old`,
      expected: /^transaction A+= of an action/,
      got: /^none$/,
    },
  ],
  [
    {
      name: 'a link to another consumer',
      pipeline: 'message_links',
      select: `SELECT * REPLACE (CASE WHEN in_msg_tx_hash = ${MIDDLE('in_msg_tx_hash')} THEN ${WRONG} ELSE in_msg_tx_hash END AS in_msg_tx_hash) FROM old`,
      expected: /consumed by/,
      got: /^AAAA/,
    },
  ],
];
test.each(WRONG_ROWS.map((rows) => ({ rows, names: rows.map(({ name }) => name).join(', ') })))(
  '$names: each is found',
  async ({ rows }) => {
    const copy = copyOf(warehouse);
    for (const { pipeline, select } of rows) await replaceRows(copy, fileOf(copy, pipeline, 1030), select);
    const { findings } = await verify(copy);
    for (const { name, pipeline, expected, got } of rows) {
      const own = findings.filter((finding) => finding.kind === 'list' && finding.pipeline === pipeline);
      // A link that leads elsewhere is missing at its own place, too.
      expect([1, 2, 3], name).toContain(own.length);
      const [found] = own.filter((finding) => expected.test(finding.expected) && got.test(finding.got));
      expect(found, name).toMatchObject({ pipeline, span: { from: expect.any(Number) } });
    }
    expect(new Set(findings.flatMap(({ kind, pipeline }) => (kind === 'list' ? [pipeline] : [])))).toEqual(
      new Set(rows.map(({ pipeline }) => pipeline)),
    );
  },
);

test('links that were read while their messages were in transit are not final, and read again by the next run', async () => {
  let nowMs = 0;
  const growing = await startTestSandbox({ blocks: 1060, blockMs: 400, nowMs: () => nowMs });
  const path = `${freshFolder()}/w`;
  const bring = (pipeline: string, range: string) =>
    run({ pipelines: [pipeline], network: growing.url, range, warehouse: path });
  await bring('transactions', '1000:1058');
  const early = await bring('message_links', '1000:1058');
  nowMs += 60 * 400;
  await bring('transactions', '1000:1100');
  const { findings, report } = await verify(path);
  expect(findings).toEqual([]);
  const unproven = { message_links: [{ why: 'not final', spans: [{ from: 1000, to: 1058 }] }] };
  expect([early.unproven, report.unproven]).toEqual([unproven, unproven]);
  const { pipelines } = await readStatus(path);
  const status = pipelines.find(({ pipeline }) => pipeline === 'message_links');
  expect(status?.unproven).toEqual(unproven.message_links);
  const { stdout } = await tonlake(['verify', '--warehouse', path]);
  expect(stdout).toContain('unproven: message_links 1000:1058 (not final)');
  expect(stdout).toContain('rows that are not final are read again by run and follow');
  nowMs += 2000 * 400;
  expect((await bring('message_links', '1000:1058')).unproven).toEqual({});
  expect((await verify(path)).report.unproven).toEqual({});
});

test('links of a source that has not heard of their receivers are asked for again, and never proven so', async () => {
  let late = 0;
  sandbox.changeAnswers(({ path }, answer) =>
    path === '/messages'
      ? withRows<Readonly<Record<string, unknown>>>(answer, 'messages', (rows) =>
          rows.map(({ in_msg_tx_hash: receiver, ...row }) =>
            late < 10 && receiver !== undefined && row['out_msg_tx_hash'] !== undefined && ++late
              ? row
              : { ...row, in_msg_tx_hash: receiver },
          ),
        )
      : undefined,
  );
  const path = `${freshFolder()}/w`;
  const pipelines = ['transactions', 'message_links'];
  const bring = () => run({ pipelines, network: sandbox.url, range: '1000:1029', warehouse: path });
  const first = await bring();
  expect(late).toBe(10);
  if (!first.complete) await bring();
  const links = "SELECT md5(string_agg(m::VARCHAR, '' ORDER BY msg_hash, in_msg_tx_hash)) FROM message_links m";
  const truth = `${freshFolder()}/w`;
  await run({ pipelines, network: sandbox.url, range: '1000:1029', warehouse: truth });
  expect(await query(path, links)).toEqual(await query(truth, links));
  const { report, findings } = await verify(path);
  expect({ findings, unproven: report.unproven }).toEqual({ findings: [], unproven: {} });
});

test('rows that another entry has, too, are found without transactions, and a repair drops them', async () => {
  const pipelines = ['message_links', 'traces', 'actions', 'jetton_transfers'];
  const path = `${freshFolder()}/w`;
  for (const range of ['1000:1029', '1030:1059']) {
    await run({ pipelines, network: sandbox.url, range, warehouse: path });
  }
  const before = await contentOf(path);
  for (const pipeline of pipelines) {
    const [first, second] = [1000, 1030].map((seqno) => fileOf(path, pipeline, seqno));
    const other = `(FROM read_parquet('${path}/${first}', hive_partitioning = false) LIMIT 1)`;
    await replaceRows(path, second ?? '', `FROM old UNION ALL BY NAME ${other}`);
  }
  const { findings } = await verify(path);
  for (const pipeline of pipelines) {
    const own = findings.filter((finding) => finding.kind === 'key-twice' && finding.pipeline === pipeline);
    expect([pipeline, own.map(({ span }) => span)]).toEqual([
      pipeline,
      [
        { from: 1000, to: 1029 },
        { from: 1030, to: 1059 },
      ],
    ]);
  }
  const { report, content } = await repair(sandbox, path, { content: true });
  expect([report.findings, content]).toEqual([0, before]);
});
