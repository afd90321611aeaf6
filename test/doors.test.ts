import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../src/export/run.ts';
import { open } from '../src/library/open.ts';
import { renderReport } from '../src/reports/render-report.ts';
import type { ShownThing } from '../src/show/shown-thing.ts';
import { Database } from '../src/sql/database.ts';
import type { CellDetail, Overview } from '../src/ui/ui-types.ts';
import { forgetRange } from '../src/verify/forget.ts';
import { repairWarehouse } from '../src/verify/repair.ts';
import type { VerifyReport } from '../src/verify/verify.ts';
import { describeParts } from '../src/warehouse/query/coverage.ts';
import { describeLeftOut } from '../src/warehouse/query/left-out-gaps.ts';
import type { WarehouseStatus } from '../src/warehouse/query/status.ts';
import { tonlake } from './cli.ts';
import { NO_FAULTS } from './faults/faults.ts';
import { startTestSandbox } from './faults/test-sandbox.ts';
import { hurriedEffects } from './rate-limit/clock.ts';
import { freshFolder } from './scratch.ts';
import { serveWarehouse, Visitor } from './ui/support.ts';
import { dropFile, fileOf } from './verify/support.ts';

const RANGE = '1000:1009';
const HEAD = `# One warehouse, read through every door

Generated from \`test/doors.test.ts\` by \`npm run docs\`: a warehouse of the sandbox is about the blocks ${RANGE}, and each row has what is said of
it where something is missing or unproven. All that ask about the same thing say the same, which the test asserts:

- **Queries**: \`tonlake sql\`, \`tonlake sql --strict\` (which refuses), \`tonlake export\`, the library, the page, reports, jobs, and
  \`tonlake show TABLE KEY\` of a row that is not there. Rows that were compared with nothing, or are not final, are no reason to warn.
- **Status**: \`tonlake status\`, and after it \`tonlake status --range\`.
- **As data**: \`tonlake status --json\`, the page's API, \`_coverage\` in queries, and \`_coverage\` in the catalog for other programs. Columns are an
  axis of their own: \`_coverage\` names a table that was left out, not columns. Of a mart: \`_freshness\`. What is unproven, \`tonlake verify\` says
  as well, and \`tonlake run\` of the blocks that it was asked for.
- **Block 1005**: the state in \`tonlake show 1005\`.
- **Mart**: the column \`_coverage\` of a mart over all transactions, and what \`tonlake build\`, \`tonlake status\` and queries of the mart say.

| what happened | queries | status | as data | block 1005 | mart |
|---|---|---|---|---|---|
`;

interface State {
  readonly title: string;
  /** What queries read: a table, and the pipeline that exports it, or a mart. Default: `transactions`. */
  readonly relation?: string;
  readonly pipeline?: string;
  readonly condition?: string;
  readonly make: (warehouse: string) => Promise<unknown>;
  /** What every door says, and the blocks and days that it names. */
  readonly says: string;
  /** What queries say, if that is something else. */
  readonly queries?: readonly string[];
  /** A line of the summary, and the end of one of `--range`. */
  readonly status?: readonly [summary: string, range: string];
  readonly data?: string | Readonly<Record<string, string>>;
  readonly block?: string;
  readonly mart?: 'proven' | 'unproven' | 'missing';
}

const [sandbox, late, unhashed] = await Promise.all([
  startTestSandbox({ hasTrueHashes: true }),
  startTestSandbox({ blocks: 1012 }),
  startTestSandbox(),
]);
unhashed.answer = ({ forward }) => forward();

/** A mart that is not built day by day. */
const MART = `-- What each account paid in fees.
-- question: What did each account pay?
-- grain: one account
-- key: account
-- inputs: transactions
-- units: nanotons
-- columns:
--   account: address
--   fees: fees of its transactions
SELECT account, sum(total_fees)::DECIMAL(38, 0) AS fees FROM transactions GROUP BY ALL ORDER BY ALL
`;
const marts = freshFolder();
writeFileSync(join(marts, 'account_fees.sql'), MART);

type Selection = Pick<Parameters<typeof run>[0], 'without' | 'withoutColumns'>;

async function bring(warehouse: string, pipelines: string, range = RANGE, selection: Selection = {}, from = sandbox) {
  const network = from.url;
  await run({ pipelines: pipelines.split(' '), network, range, warehouse, effects: hurriedEffects(), ...selection });
}

const HALF = 'missing part of 2026-05-01 (only 2026-05-01 23:33:20 to 2026-05-01 23:33:23 is in the warehouse)';

const states: readonly State[] = [
  {
    title: 'All is exported, and agrees with the headers',
    make: (warehouse) => bring(warehouse, 'transactions'),
    says: '',
    status: ['nothing is missing', 'nothing is missing'],
    block: 'proven',
    mart: 'proven',
  },
  {
    title: 'And the list of jettons was read later, with `tonlake run jetton_masters`',
    make: async (warehouse) => {
      await bring(warehouse, 'transactions');
      await bring(warehouse, 'jetton_masters', '-1:');
    },
    says: '',
    status: ['unproven jetton_masters 10000 (compared with nothing)', 'nothing is missing'],
    block: 'proven',
    mart: 'proven',
  },
  {
    title: 'An export of transactions ended at 1004',
    make: async (warehouse) => {
      await bring(warehouse, 'transactions', '1000:1004');
      await bring(warehouse, 'blocks');
    },
    says: 'missing 1005:1009 (not exported)',
    mart: 'missing',
  },
  {
    title: '`tonlake forget` removed 1005:1009',
    make: async (warehouse) => {
      await bring(warehouse, 'transactions');
      await forgetRange({ warehouse, pipelines: ['transactions'], range: '1005:1009' });
    },
    says: 'missing 1005:1009 (forgotten)',
    mart: 'missing',
  },
  {
    title: 'A record of 1005 cannot be decoded',
    make: async (warehouse) => {
      sandbox.setFaults({ broken: [{ seqno: 1005, index: 1, kind: 'lt' }] });
      await bring(warehouse, 'transactions');
    },
    says: 'missing 1005 (quarantined)',
    mart: 'missing',
  },
  {
    title: 'A file was lost, the source no longer has all of 1005, and `verify --repair --keep-readable` kept the rest',
    make: async (warehouse) => {
      await bring(warehouse, 'transactions');
      dropFile(warehouse, fileOf(warehouse, 'transactions', 1005));
      sandbox.setFaults({ lies: [{ seqno: 1005, kind: 'transaction-missing-first' }] });
      await repairWarehouse({ warehouse, keepReadable: true, effects: hurriedEffects() });
    },
    says: 'missing 1005 (refused)',
    mart: 'missing',
  },
  {
    title: "Half a day: a query `where block_date = '2026-05-01'`",
    condition: "block_date = '2026-05-01'",
    make: (warehouse) => bring(warehouse, 'transactions'),
    says: HALF,
    status: ['half a day 2026-05-01', '2026-05-01: half a day'],
    data: '',
    block: 'proven',
  },
  {
    title: '1005:1009 was exported with `--without-column messages.body_boc`',
    relation: 'messages',
    make: async (warehouse) => {
      await bring(warehouse, 'transactions', '1000:1004');
      await bring(warehouse, 'transactions', '1005:1009', { withoutColumns: ['messages.body_boc'] });
    },
    says: 'messages was exported without body_boc in 1005:1009',
    queries: ['messages was exported without body_boc in 1005:1009'],
    data: { status: 'messages was exported without body_boc in 1005:1009', page: '', queries: '', catalog: '' },
    status: [
      'missing messages was exported without body_boc in 1005:1009',
      'messages was exported without body_boc in 1005:1009',
    ],
    block: 'proven',
  },
  {
    title: '1005:1009 was exported with `--without account_states`',
    relation: 'account_states',
    make: async (warehouse) => {
      await bring(warehouse, 'transactions', '1000:1004');
      await bring(warehouse, 'transactions', '1005:1009', { without: ['account_states'] });
    },
    says: 'account_states was left out in 1005:1009',
    queries: ['account_states was left out in 1005:1009'],
    data: {
      ...{ status: 'account_states was left out in 1005:1009', page: '' },
      ...{ queries: 'missing 1005:1009 (left out)', catalog: 'missing 1005:1009 (left out)' },
    },
    status: ['missing account_states was left out in 1005:1009', 'account_states was left out in 1005:1009'],
    block: 'proven',
  },
  {
    title: 'The content of transactions of 1005 is not that of their hashes',
    make: async (warehouse) => {
      sandbox.changeAnswers((_, { status, body }) => {
        const changed = body.replaceAll(/("mc_block_seqno":1005[\s\S]*?"exit_code":)0/g, '$11');
        return changed === body ? undefined : { status, body: changed };
      });
      await bring(warehouse, 'transactions');
    },
    says: 'unproven 1005 (content contradicts hashes)',
    mart: 'unproven',
  },
  {
    title: 'A server on this machine says that its hashes are made up',
    make: (warehouse) => bring(warehouse, 'transactions', RANGE, {}, unhashed),
    says: 'unproven 1000:1009 (made-up hashes)',
    queries: [],
    mart: 'unproven',
  },
  {
    title: 'Actions, without transactions of their blocks',
    relation: 'actions',
    pipeline: 'actions',
    make: (warehouse) => bring(warehouse, 'actions'),
    says: 'unproven 1000:1009 (compared with nothing)',
    queries: [],
  },
  {
    title: 'Links near the head of the chain, which may still change',
    relation: 'message_links',
    pipeline: 'message_links',
    make: (warehouse) => bring(warehouse, 'transactions message_links', RANGE, {}, late),
    says: 'unproven 1000:1009 (not final)',
    queries: [],
  },
  {
    title: 'A mart, and transactions of 1005:1009 after it',
    relation: 'account_fees',
    make: async (warehouse) => {
      await bring(warehouse, 'transactions', '1000:1004');
      await tonlake(['build', 'account_fees', '--marts', marts, '-w', warehouse]);
      await bring(warehouse, 'transactions', '1005:1009');
    },
    says: 'stale, built 1 commit ago',
    queries: ['account_fees: stale, built 1 commit ago: tonlake build account_fees'],
    status: ['stale account_fees built 1 commit ago: tonlake build', 'nothing is missing'],
    block: 'proven',
  },
];

/** A command over a warehouse. What it prints does not name the warehouse. */
async function cli(warehouse: string, ...args: readonly string[]) {
  const { code, stdout, stderr } = await tonlake([...args, '-w', warehouse]);
  return { code, stdout: shortened(warehouse, stdout), stderr: shortened(warehouse, stderr) };
}

function shortened(warehouse: string, text: string): string {
  return text.replaceAll(` --warehouse ${warehouse}`, '');
}

function linesOf({ stdout }: { readonly stdout: string }): readonly string[] {
  return stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
}

const warnings = (stderr: string) => [...stderr.matchAll(/^warning: (.*)$/gm)].map(([, line = '']) => line);

interface Asked {
  readonly warehouse: string;
  readonly sql: string;
  readonly relation: string;
  /** Undefined for a mart. */
  readonly pipeline: string | undefined;
}

/** What each door says to a query, by its name. */
async function askQueries({ warehouse, sql, relation, pipeline }: Asked): Promise<Record<string, readonly string[]>> {
  const folder = freshFolder();
  const heard: string[] = [];
  const lake = await open({ warehouse, onWarning: (warning) => void heard.push(warning) });
  await lake.query(sql).finally(() => lake.close());
  const report = join(folder, 'rows.md');
  writeFileSync(
    report,
    `---\ntitle: Rows\ndoc: Rows.\n---\n\n\`\`\`sql rows\n${sql}\n\`\`\`\n\n\`\`\`table rows\ntitle: Rows\n\`\`\`\n`,
  );
  const refused = await cli(warehouse, 'sql', sql, '--strict');
  const isRefused = refused.stderr.startsWith('error: audit: ');
  expect(refused).toMatchObject(isRefused ? { code: 1, stdout: '' } : { code: 0, stderr: '' });
  const absent = await cli(warehouse, 'show', relation, `${'A'.repeat(43)}=`);
  return {
    sql: warnings((await cli(warehouse, 'sql', sql)).stderr),
    'sql --strict': /^error: audit: (.*); hint: /.exec(refused.stderr)?.slice(1) ?? [],
    export: warnings((await cli(warehouse, 'export', sql, '--to', join(folder, 'a.csv'))).stderr),
    library: heard,
    report: (await renderReport(warehouse, report, { format: 'csv' })).gaps,
    // A key asks for no day, and only a table has a declared one.
    ...(sql.includes('where') || pipeline === undefined
      ? {}
      : { show: /; hint: (.*)\n/.exec(absent.stderr)?.slice(1) ?? [] }),
  };
}

/** What a job says that exports the rows of a query. */
async function askJob(warehouse: string, network: string, query: string): Promise<readonly string[]> {
  const folder = freshFolder();
  const job = {
    network,
    warehouse,
    pipelines: ['blocks'],
    range: '1000',
    exports: [{ query, output: join(folder, 'b.csv') }],
  };
  const file = join(folder, 'job.yaml');
  writeFileSync(file, JSON.stringify(job));
  const { stderr } = await tonlake(['job', 'run', file]);
  return /warning: (.*) \([\d.]+ s\)$/m.exec(stderr)?.slice(1) ?? [];
}

interface Seen {
  readonly warnings: readonly string[];
  readonly overview: Overview;
  readonly cell: CellDetail;
}

/** What the page shows. */
async function visit({ warehouse, sql, pipeline = 'transactions' }: Asked): Promise<Seen> {
  const server = await serveWarehouse(warehouse);
  const visitor = await Visitor.enter(server);
  const cell = await visitor.read<CellDetail>(`/api/coverage/${pipeline}?from=1000&to=1009`);
  const overview = await visitor.read<Overview>('/api/overview');
  const { warnings } = await visitor.run(sql);
  await server.close();
  return { warnings, overview, cell };
}

/** What each door says as data, in the words of a query. */
async function askData(
  asked: Asked,
  status: WarehouseStatus,
  { overview, cell }: Seen,
): Promise<Record<string, string>> {
  const { warehouse, relation, pipeline } = asked;
  const select =
    pipeline === undefined
      ? `select concat('stale, built ', commits_behind, ' commit ago') from _freshness where mart = '${relation}'`
      : `select concat(state, ' ', span_from, if(span_from < span_to, concat(':', span_to), ''), ' (', reason, ')')
        from _coverage where relation = '${relation}' and state <> 'proven'`;
  const lake = await open({ warehouse, onWarning: () => undefined });
  const rows = await lake.query(select).finally(() => lake.close());
  const catalog = await Database.open(join(warehouse, 'warehouse.duckdb'), { access_mode: 'READ_ONLY' });
  const others = await catalog.query(select);
  catalog.close();
  const relations = { queries: rows.flatMap(Object.values).join(), catalog: others.rows.flat().join() };
  if (pipeline === undefined) {
    const behind = status.marts.find(({ mart }) => mart === relation)?.behind?.commits;
    const stale = overview.marts.find(({ name }) => name === relation)?.stale;
    return { status: `stale, built ${behind} commit ago`, page: `stale, ${stale}`, ...relations };
  }
  const own = status.pipelines.find((each) => each.pipeline === pipeline);
  const parts = (missing: string, unproven: string): readonly string[] => [
    ...(missing === '' ? [] : [`missing ${missing}`]),
    ...(unproven === '' ? [] : [`unproven ${unproven}`]),
  ];
  const said = [
    ...parts(describeParts(own?.missing ?? []), describeParts(own?.unproven ?? [])),
    ...(own?.leftOut ?? []).map(describeLeftOut),
  ];
  return { status: said.join(), page: parts(cell.missing, cell.unproven).join(), ...relations };
}

/** The one text that is said by all; fails if two differ. */
function agreed(said: Readonly<Record<string, unknown>>, expected: unknown): void {
  expect(said).toEqual(Object.fromEntries(Object.keys(said).map((door) => [door, expected])));
}

const lines: string[] = [];

test.each(states)('$title', { timeout: 120_000 }, async (state) => {
  const { says, relation = 'transactions', condition, mart } = state;
  const warehouse = join(freshFolder(), 'w');
  sandbox.setFaults(NO_FAULTS);
  await state.make(warehouse);
  sandbox.setFaults(NO_FAULTS);
  const pipeline = relation === 'account_fees' ? undefined : (state.pipeline ?? 'transactions');
  const sql = `select * from ${relation}${condition === undefined ? '' : ` where ${condition}`}`;
  const asked = { warehouse, sql, relation, pipeline };
  const built = mart === undefined ? '' : (await cli(warehouse, 'build', 'account_fees', '--marts', marts)).stdout;

  const summary = linesOf(await cli(warehouse, 'status'));
  const ofRange = linesOf(await cli(warehouse, 'status', '--range', condition === undefined ? RANGE : '2026-05-01'));
  const [word = '', what = ''] = /^(\w+) (.*)$/.exec(says)?.slice(1) ?? [];
  const [line, end] = state.status ?? [
    `${word} ${pipeline} ${what}`,
    word === 'missing' ? `missing: ${what}` : 'nothing is missing',
  ];
  expect(summary).toContain(line);
  const rangeLine = ofRange.find((text) => text.endsWith(end));
  expect(rangeLine, ofRange.join('\n')).toBeDefined();

  const all: WarehouseStatus = JSON.parse((await cli(warehouse, 'status', '--json')).stdout);
  const seen = await visit(asked);
  const data = await askData(asked, all, seen);
  if (typeof state.data === 'object') expect(data).toEqual(state.data);
  else agreed(data, state.data ?? says);

  const verified: VerifyReport = JSON.parse(
    (await cli(warehouse, 'verify', '--json')).stdout.trim().split('\n').at(-1) ?? '',
  );
  const unproven = all.pipelines.filter((each) => each.unproven.length > 0);
  expect(verified.unproven).toEqual(Object.fromEntries(unproven.map((each) => [each.pipeline, each.unproven])));
  const whys = unproven.find((each) => each.pipeline === pipeline)?.unproven.map(({ why }) => `unproven: ${why}`);
  expect(seen.cell.entries.map(({ proof }) => proof)).toEqual(expect.arrayContaining(whys ?? []));

  const shown: ShownThing = JSON.parse((await cli(warehouse, 'show', '1005', '--json')).stdout);
  const rows = shown.sections.find(({ title }) => title === 'commits')?.rows ?? [];
  const block = rows.find(([name]) => name === (pipeline ?? 'transactions'))?.[1];
  expect(block).toBe(state.block ?? says.replace(/ [\d:]+ /, ' '));

  const marked = mart === 'missing' ? ['account_fees: missing part of what it reads'] : [];
  if (mart !== undefined) {
    const read = await cli(warehouse, 'sql', 'select distinct _coverage from account_fees', '--format', 'csv');
    expect([read.stdout, warnings(read.stderr)]).toEqual([`_coverage\n${mart}\n`, marked]);
    expect(summary.includes('missing account_fees part of what it reads')).toBe(mart === 'missing');
    expect(built.includes('; missing part of what it reads')).toBe(mart === 'missing');
  }

  const job = await askJob(warehouse, all.network, sql);
  const queries = { ...(await askQueries(asked)), page: seen.warnings, job };
  const short = Object.entries(queries).map(([door, said]) => [door, said.map((text) => shortened(warehouse, text))]);
  const expected = state.queries ?? (says === '' ? [] : [`${pipeline}: ${says}`]);
  agreed(Object.fromEntries(short), expected);

  const cells = [expected, [line, rangeLine], Object.values(data), [block], [mart, ...marked]];
  lines.push(`| ${[state.title, ...cells.map(cellOf)].join(' | ')} |\n`);
});

function cellOf(texts: readonly (string | null | undefined)[]): string {
  const said = [...new Set(texts)].filter((text) => text !== undefined && text !== '');
  return said.length === 0 ? '–' : said.map((text) => `\`${text}\``).join('<br>');
}

test('docs/coverage.md has this table', async () => {
  await expect(HEAD + lines.join('')).toMatchFileSnapshot('../docs/coverage.md');
});
