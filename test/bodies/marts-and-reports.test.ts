import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { copyOf, exportSandbox } from '../marts/support.ts';
import { FRONT, writeReport } from '../reports/support.ts';
import { freshFolder } from '../scratch.ts';

const LAYOUT =
  'own_transfer:\n  opcode: 0x0f8a7ea5\n  fields: query_id uint64, amount coins, to address, payload rest\n';
const MART = `-- What transfers of jettons ask for.
-- question: Who sends how much?
-- grain: one message
-- key: block_date, tx_hash
-- inputs: messages
-- incremental: block_date
-- units: amounts in the smallest unit
SELECT block_date, tx_hash, parse_boc(body_boc, 'own_transfer').amount AS amount, opcode_of(body_boc) AS opcode,
  decode_body(body_boc)->>'@type' AS kind
FROM messages WHERE direction = 'in' AND opcode = 260734629
`;

const folder = freshFolder();
const run = (...words: readonly string[]) => tonlake(words, { cwd: folder });

mkdirSync(join(folder, 'sql/marts'), { recursive: true });
writeFileSync(join(folder, 'tonlake.yaml'), 'network: sandbox\nlayouts: layouts.yaml\n');
writeFileSync(join(folder, 'layouts.yaml'), LAYOUT);
writeFileSync(join(folder, 'sql/marts/own_transfers.sql'), MART);
const exported = await exportSandbox('1000:1005', ['transactions']);

describe.each(['w', 'w.duckdb'])('in %s', (name) => {
  let place: readonly string[];

  beforeAll(async () => {
    const path = name === 'w' ? await copyOf(exported) : join(freshFolder(), name);
    if (name !== 'w') await exportSandbox('1000:1005', ['transactions'], path);
    place = ['--warehouse', path];
  });

  const build = () => run('build', 'own_transfers', '--marts', 'sql/marts', ...place);

  test('a mart of a project reads bodies, and is built anew when a layout changes', async () => {
    const built = await build();
    expect(built, built.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/built, [1-9]\d* rows/) });
    const differing = `SELECT count(*) AS n, count(*) FILTER (mart.amount <> transfers.amount OR opcode <> 260734629 OR kind <> 'jetton_transfer') AS wrong
      FROM own_transfers AS mart JOIN (SELECT tx_hash, parse_boc(body_boc, 'op uint32, id uint64, amount coins').amount AS amount
        FROM messages WHERE direction = 'in') AS transfers USING (tx_hash)`;
    const { stdout } = await run('sql', differing, '--format', 'csv', ...place);
    expect(stdout).toMatch(/^n,wrong\n[1-9]\d*,0\n$/);
    expect((await build()).stdout).toContain('unchanged');
    writeFileSync(join(folder, 'layouts.yaml'), LAYOUT.replace('own_transfer', 'other'));
    const unknown = await build();
    expect([unknown.code, unknown.stderr.split('\n').length]).toEqual([2, 2]);
    expect(unknown.stderr).toMatch(
      /expected the name of a layout or its fields, got own_transfer \(.*own_transfers\.sql\); hint/,
    );
    writeFileSync(join(folder, 'layouts.yaml'), LAYOUT.replace('query_id uint64', 'query_id bits64'));
    expect((await build()).stdout).toMatch(/built, [1-9]\d* rows/);
    writeFileSync(join(folder, 'layouts.yaml'), LAYOUT);
  });

  test('a report reads bodies', async () => {
    const report = writeReport(
      `${FRONT}\n` +
        "```sql amounts\nselect parse_boc(body_boc, 'own_transfer').amount as amount, boc_depth(body_boc) as depth from messages where direction = 'in'\n```\n\n" +
        '```sql shown\nselect count(*) as transfers, sum(amount) as amount from amounts where amount is not null\n```\n\n```table shown\ntitle: Rows\n```\n',
    );
    const { stdout, stderr, code } = await run('report', report, '--format', 'csv', ...place);
    expect(code, stderr).toBe(0);
    const same = 'select count(*) as transfers, sum(amount) as amount from own_transfers';
    expect(stdout).toBe((await run('sql', same, '--format', 'csv', ...place)).stdout);
  });
});
