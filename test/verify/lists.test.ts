import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, copyOf, fileOf, repair, rewrite, verify } from './support.ts';

const LISTS = ['message_links', 'traces', 'actions', 'jetton_transfers', 'jetton_burns'];
let sandbox: Sandbox;
let warehouse: string;
let sound: unknown;

beforeAll(async () => {
  // Far behind the head, so that nothing is written late.
  sandbox = await startSandbox({ blocks: 4000 });
  warehouse = `${freshFolder()}/w`;
  await run({ pipelines: LISTS, network: sandbox.url, range: '1000:1059', warehouse, workers: 0 });
  await run({ pipelines: ['transactions'], network: sandbox.url, range: '1000:1059', warehouse, workers: 0 });
  sound = await contentOf(warehouse);
});
afterAll(() => sandbox.close());

test('lists that agree with transactions are proven', async () => {
  const { findings, report } = await verify(warehouse);
  expect(findings).toEqual([]);
  expect(Object.keys(report.spans)).toEqual(expect.arrayContaining([...LISTS, 'transactions']));
});

const MIDDLE = (column: string): string =>
  `(SELECT ${column} FROM old ORDER BY ${column} OFFSET (SELECT count(*) // 2 FROM old) LIMIT 1)`;
const WRONG = `'${'A'.repeat(43)}='`;

test.each([
  [
    'a link is missing',
    'message_links',
    `SELECT * FROM old WHERE created_lt <> ${MIDDLE('created_lt')}`,
    /^message \S+ sent by \S+$/,
    /^no link/,
  ],
  [
    'a link of no message',
    'message_links',
    `SELECT * REPLACE (CASE WHEN created_lt = ${MIDDLE('created_lt')} THEN ${WRONG} ELSE msg_hash END AS msg_hash) FROM old`,
    /sent by a listed transaction/,
    /=, and/,
  ],
  [
    'a link to another consumer',
    'message_links',
    `SELECT * REPLACE (CASE WHEN in_msg_tx_hash = ${MIDDLE('in_msg_tx_hash')} THEN ${WRONG} ELSE in_msg_tx_hash END AS in_msg_tx_hash) FROM old`,
    /consumed by/,
    /^AAAA/,
  ],
  [
    'a trace with another number of transactions',
    'traces',
    `SELECT * REPLACE (CASE WHEN trace_id = ${MIDDLE('trace_id')} THEN 99 ELSE transactions END AS transactions) FROM old`,
    /^99 transactions of trace/,
    /^\d+$/,
  ],
  [
    'an action of no trace',
    'actions',
    `SELECT * REPLACE (CASE WHEN action_id = ${MIDDLE('action_id')} THEN ${WRONG} ELSE trace_id END AS trace_id) FROM old`,
    /^trace A+= of an action/,
    /^none$/,
  ],
  [
    'an action of no transaction',
    'actions',
    `SELECT * REPLACE (CASE WHEN start_lt = ${MIDDLE('start_lt')} THEN '[${WRONG.replaceAll("'", '"')}]' ELSE transactions END AS transactions) FROM old`,
    /^transaction A+= of an action/,
    /^none$/,
  ],
  [
    'a transfer of no transaction',
    'jetton_transfers',
    `SELECT * REPLACE (CASE WHEN tx_hash = ${MIDDLE('tx_hash')} THEN ${WRONG} ELSE tx_hash END AS tx_hash) FROM old`,
    /^transaction A+= that received f8a7ea5/,
    /^none$/,
  ],
])('%s is found', async (_, pipeline, select, expected, got) => {
  const copy = copyOf(warehouse, true);
  await rewrite(copy, fileOf(copy, pipeline, 1030), select);
  const { findings } = await verify(copy);
  const own = findings.filter(({ kind }) => kind === 'list');
  // A link that leads elsewhere is missing at its own place, too.
  expect([1, 2, 3]).toContain(own.length);
  const [found] = own.filter((finding) => expected.test(finding.expected) && got.test(finding.got));
  expect(found).toMatchObject({ pipeline, span: { from: expect.any(Number) } });
});

test('a repair fetches the list again', async () => {
  const copy = copyOf(warehouse, true);
  await rewrite(copy, fileOf(copy, 'traces', 1030), `SELECT * REPLACE (transactions + 1 AS transactions) FROM old`);
  const { report, content } = await repair(sandbox, copy, { content: true });
  expect(report.proven).toBe(true);
  expect(content).toEqual(sound);
});
