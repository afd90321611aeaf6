import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { formatFinding } from '../../src/verify/finding.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, copyOf, fileOf, repair, replaceRows, verify } from './support.ts';

let sandbox: TestSandbox;
let alone: string;
let headed: string;

beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 4000 });
  const options = { network: sandbox.url, range: '1000:1039' };
  alone = `${freshFolder()}/w`;
  await run({ pipelines: ['shard_state'], warehouse: alone, ...options });
  headed = `${freshFolder()}/w`;
  await run({ pipelines: ['blocks', 'shard_state'], warehouse: headed, ...options });
});
afterAll(() => sandbox.close());

test('sound states are proven, with and without headers', async () => {
  for (const warehouse of [alone, headed]) expect((await verify(warehouse)).findings).toEqual([]);
});

const NEW = 'mc_seqno = 1020 AND mc_block_seqno = 1020 AND workchain = 0';
const FIRST_OF = (which: string) => `root_hash = (SELECT min(root_hash) FROM old WHERE ${which}) AND mc_seqno = 1020`;

test.each([
  ['a shard is missing', 'alone', `FROM old WHERE NOT (${FIRST_OF(NEW)})`, /a block of every shard at 1020/],
  [
    'the masterchain block is missing',
    'alone',
    'FROM old WHERE mc_seqno <> 1020 OR workchain = 0',
    /masterchain block 1020/,
  ],
  [
    'all of a block is missing',
    'alone',
    'FROM old WHERE mc_seqno <> 1020',
    /masterchain block 1020 in its own state, got none/,
  ],
  [
    'a shard with a new block is missing',
    'headed',
    `FROM old WHERE NOT (${FIRST_OF(NEW)})`,
    /block 0:\S+, the newest of its shard/,
  ],
  [
    'a block is another',
    'headed',
    `SELECT * REPLACE (CASE WHEN ${FIRST_OF(NEW)} THEN '${'A'.repeat(43)}=' ELSE root_hash END AS root_hash) FROM old`,
    /with root hash \S+, got AAAA/,
  ],
  [
    'a shard has no block but an old one',
    'headed',
    `SELECT * REPLACE (CASE WHEN ${FIRST_OF(NEW)} THEN seqno - 1 ELSE seqno END AS seqno) FROM old`,
    /the newest of its shard/,
  ],
])('%s (%s): a finding, and repaired', async (_, which, select, expected) => {
  const sound = which === 'alone' ? alone : headed;
  const path = copyOf(sound);
  await replaceRows(path, fileOf(path, 'shard_state', 1020), select);
  const { findings } = await verify(path);
  const [finding] = findings.filter(({ kind }) => kind === 'list');
  expect(finding).toMatchObject({ pipeline: 'shard_state', span: { from: 1020, to: 1020 } });
  expect(finding === undefined ? '' : formatFinding(finding)).toMatch(expected);
  expect((await repair(sandbox, path)).report).toMatchObject({ proven: true, findings: 0 });
  expect(await contentOf(path)).toEqual(await contentOf(sound));
});

test.each(['alone', 'headed'])('a missing shard without a new block is found as well (%s)', async (which) => {
  const path = copyOf(which === 'alone' ? alone : headed);
  const repeated = 'workchain = 0 AND mc_block_seqno < mc_seqno AND mc_seqno > 1005';
  await replaceRows(
    path,
    fileOf(path, 'shard_state', 1020),
    `FROM old WHERE NOT (mc_seqno = (SELECT min(mc_seqno) FROM old WHERE ${repeated}) AND mc_block_seqno < mc_seqno)`,
  );
  const findings = (await verify(path)).findings.filter(({ kind }) => kind === 'list');
  expect(findings).toHaveLength(1);
  expect(findings[0]?.expected).toMatch(/^(a block of every shard at|block 0:\S+, the newest of its shard)/);
});
