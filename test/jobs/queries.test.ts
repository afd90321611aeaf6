import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatError, UsageError } from '../../src/core/errors.ts';
import { run } from '../../src/export/run.ts';
import { checkQueries } from '../../src/jobs/check-queries.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { freshFolder } from '../scratch.ts';
import { jobOf } from './support.ts';

const HEAD = 'network: sandbox\npipelines: [blocks]\nrange: yesterday\n';

/** A job with one query, on line 6 of its file. */
const jobWith = (sql: string): string =>
  `${HEAD}exports:\n  - query: |\n${sql.replace(/^/gm, '      ')}\n    output: out/a.csv\n`;

/** What is said of the queries of a job; nothing where they are sound. */
async function faultOf(text: string, warehouse = join(freshFolder(), 'w')): Promise<string> {
  const job = await jobOf(text, 'jobs/nightly.yaml', warehouse);
  const error = await checkQueries(job).catch((thrown: unknown) => thrown);
  if (error === undefined) return '';
  expect(error, formatError(error)).toBeInstanceOf(UsageError);
  return formatError(error);
}

describe('a query that cannot be answered is refused in one line, with the line of its file', () => {
  test.each(
    Object.entries({
      'selec $date\nfrom blocks':
        'Parser Error: syntax error at or near "selec" (jobs/nightly.yaml:6); hint: tonlake show',
      '-- Blocks.\n\nselect *\nfrm blocks where':
        'Parser Error: syntax error at or near "blocks" (jobs/nightly.yaml:9); hint: ',
      'select *\nfrom blocks where': '(jobs/nightly.yaml:7); hint: ',
      'select *\nfrom transactionz':
        'expected a table or mart, got transactionz (jobs/nightly.yaml:7); hint: did you mean transactions?',
      'select * from gas_fees_dayly':
        'expected a table or mart, got gas_fees_dayly (jobs/nightly.yaml:6); hint: did you mean gas_fees_daily?',
      'select * from _entries': 'expected a table or mart, got _entries',
      'select seqno,\n  wrkchain from blocks':
        /Binder Error: Referenced column "wrkchain" not found.*workchain.* \(jobs\/nightly.yaml:7\); hint: /,
      'select shard_hx(shard) from blocks':
        /Scalar Function with name shard_hx does not exist! Did you mean "shard_hex"\? \(jobs\/nightly.yaml:6\)/,
      "select '$dat' as text, $Date, -- $first_day\n  $first_day from blocks":
        'expected a parameter that jobs bind, got $first_day (jobs/nightly.yaml:7); hint: did you mean $first_date? There are: $from, $to, $first_date, $date, $job',
      'select $from + $date::date > true': 'Binder Error',
      'select 1;\nselect 2': /syntax error at or near ";" \(jobs\/nightly.yaml:6\)/,
      'delete from blocks': 'syntax error at or near "delete"',
    }),
  )('%j', async (sql, says) => {
    const line = await faultOf(jobWith(sql));
    expect(line).toMatch(/^usage: expected [^\n]*, got [^\n]*; hint: [^\n]+$/);
    if (typeof says === 'string') expect(line).toContain(says);
    else expect(line).toMatch(says);
  });

  test('in a file of its own', async () => {
    const file = join(freshFolder(), 'q.sql');
    writeFileSync(file, '\n-- Blocks.\nselect *\nfrom blcks;\n');
    expect(await faultOf(`${HEAD}exports: [{file: ${file}, output: a.csv}]`)).toBe(
      `usage: expected a table or mart, got blcks (${file}:4); hint: did you mean blocks?`,
    );
  });

  test.each([
    ['in quotes', 'exports: [{query: "select 1,\n  x from blcks", output: a.csv}]', 4],
    ['folded', 'exports:\n  - output: a.csv\n    query: >\n      select 1,\n      x from blcks', 6],
    ['plain', 'exports:\n  - query: select * from blcks\n    output: a.csv', 5],
  ])('%s, where YAML joins lines, with the line on which it begins', async (_, text, line) => {
    expect(await faultOf(`${HEAD}${text}`)).toContain(`got blcks (jobs/nightly.yaml:${line}); hint`);
  });
});

describe('a query is taken', () => {
  test.each([
    ['with all values', 'select $from::int, $to - 1, $date::date, $first_date, $job from blocks;'],
    ['with a value beside a column', 'select * from blocks where block_date = $date and seqno between $from and $to'],
    ['over a view', 'select * from jetton_masters_now, messages_edge'],
    ['over marts that the job does not build', 'from gas_fees_daily select sum(1)'],
    ['over the ledger and offenders', 'select * from _commits, check_failures'],
    ['over what is there', 'select * from _coverage, _freshness'],
    ['with names of its own', 'with blcks as (select * from blocks) select * from blcks b'],
    ['with macros', 'select shard_hex(shard), exact_sum(seqno) from blocks group by all'],
    ['that turns rows', 'pivot blocks on workchain using count(*) group by block_date'],
    ['over what DuckDB lists', 'select table_name from information_schema.tables'],
    ['over a file that may come later', "select * from 'out/later.csv'"],
    ['whose fault is one of the data', "select error('no'), 'x'::int"],
  ])('%s', async (_, sql) => {
    const warehouse = join(freshFolder(), 'w');
    expect(await faultOf(jobWith(sql), warehouse)).toBe('');
    expect(existsSync(warehouse)).toBe(false);
    expect(existsSync('out')).toBe(false);
  });

  test.each(['w', 'w.duckdb'])('over a mart of your own that %s holds, with its columns', async (name) => {
    const folder = freshFolder();
    const warehouse = join(folder, name);
    await run({ pipelines: ['blocks'], network: 'sandbox', range: '1000:1009', warehouse });
    const header =
      '-- Mine.\n-- question: how many?\n-- grain: one row\n-- key: blocks\n-- inputs: blocks\n-- units: none\n';
    writeFileSync(join(folder, 'mine.sql'), `${header}select count(*)::BIGINT as blocks from blocks\n`);
    await buildMarts(warehouse, { names: ['mine'], folder });
    expect(await faultOf(jobWith('select blocks from mine'), warehouse)).toBe('');
    expect(await faultOf(jobWith('select blcks from mine'), warehouse)).toContain('"blcks" not found');
    expect(await faultOf(jobWith('select blocks from mine'))).toContain('expected a table or mart, got mine');
  });
});
