import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tonlake } from '../cli.ts';
import { MISTAKE, OWN_ORDERS } from '../own-pipeline.ts';

/** A command that fails or warns, and the command that its text suggests, which can be typed as it stands. */
export interface Suggestion {
  /** The source of the text. */
  readonly of: string;
  /** `NETWORK` stands for the sandbox, whose blocks 1000:1001 are in the warehouse `w`. */
  readonly words: readonly string[];
  readonly suggests: string;
  /** What else there is in the folder. */
  readonly given?: (folder: string) => Promise<void> | void;
  /** Exit code of the suggested command; default 0. */
  readonly code?: number;
}

const W = ['-w', 'w'];
const RANGE = ['--range', '1000:1001', '--network', 'NETWORK'];
const IN_W = [...RANGE, ...W];
const ABSENT = 'F'.repeat(64);

const writes =
  (name: string, text: string) =>
  (folder: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };

/** The data files of a table. */
function filesOf(folder: string, table: string, warehouse = 'w'): readonly string[] {
  return readdirSync(join(folder, warehouse), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes(`/${table}/`) && name.endsWith('.parquet'))
    .map((name) => join(folder, warehouse, name));
}

const removes =
  (table: string) =>
  (folder: string): void => {
    for (const file of filesOf(folder, table)) rmSync(file);
  };

const damages =
  (table: string, warehouse?: string) =>
  (folder: string): void => {
    for (const file of filesOf(folder, table, warehouse)) writeFileSync(file, 'damaged');
  };

const runs =
  (...commands: readonly string[]) =>
  async (folder: string): Promise<void> => {
    for (const command of commands) await tonlake(command.split(' '), { cwd: folder });
  };

const JOB = '{network: sandbox, warehouse: v, pipelines: [transactions], range: "1000:1001", MORE}';
const job = (more: string) => writes('jobs/nightly.yaml', JOB.replace('MORE', more));

const alert = (table: string) =>
  writes(
    'a.yaml',
    `doc: d\nselect: select nope from ${table}\nmessage: m\nnotify: [{webhook: "http://127.0.0.1:1/"}]\n`,
  );

const NOBODY = 'select account as address from transactions where lt < 0';

/** With a column that is null in some records. */
const SOMETIMES_ABSENT = OWN_ORDERS.replace('import { field', 'import { field, text').replace(
  "field('/source'",
  "text('/forward_payload'",
);

export const SUGGESTIONS: readonly Suggestion[] = [
  {
    of: 'cli/pipeline-names.ts',
    words: ['run', 'transactions', '1000:1001', ...W],
    suggests: 'tonlake run --warehouse w transactions -r 1000:1001',
  },
  {
    of: 'cli/pipeline-names.ts',
    words: ['run', 'gas_fees_daily', '--range', '1000', ...W],
    suggests: 'tonlake build --warehouse w gas_fees_daily',
  },
  {
    of: 'declare/selection.ts',
    words: ['run', 'transactions', '--columns', 'transactions=nope', '--range', '1000', ...W],
    suggests: 'tonlake show --warehouse w transactions',
  },
  {
    of: 'show/row-key.ts',
    words: ['show', 'transactions', 'nope=1', ...W],
    suggests: 'tonlake show --warehouse w transactions',
  },
  {
    of: 'show/row-key.ts',
    words: ['show', 'transactions', ABSENT, '5', ...W],
    suggests: 'tonlake show --warehouse w transactions',
  },
  {
    of: 'show/explain-row.ts',
    words: ['show', 'actions_ton_transfer', 'x', ...W],
    suggests: 'tonlake show --warehouse w actions',
  },
  { of: 'show/describe-thing.ts', words: ['show', ABSENT, ...W], suggests: 'tonlake status --warehouse w' },
  {
    of: 'show/show-thing.ts',
    words: ['show', '@alice', ...W],
    suggests: 'tonlake run --warehouse w dns_records --range -1000:',
  },
  {
    of: 'cli/commands/show-command.ts',
    words: ['show', '--files', ...W],
    suggests: 'tonlake show --warehouse w transactions --files',
  },
  {
    of: 'cli/commands/show-command.ts',
    words: ['show', 'gas_fees_daily', '--files', ...W],
    suggests: 'tonlake build --warehouse w gas_fees_daily',
  },
  {
    of: 'verify/plan-forget.ts',
    words: ['forget', 'blocks', '--range', '1000', ...W],
    suggests: 'tonlake forget --warehouse w blocks transactions --range 1000',
  },
  {
    of: 'verify/plan-forget.ts',
    words: ['forget', 'jetton_masters', '--range', '1000', ...W],
    suggests: 'tonlake show --warehouse w jetton_masters',
  },
  { of: 'api/endpoints.ts', words: ['api', 'nope'], suggests: 'tonlake api' },
  { of: 'cli/commands/api-command.ts', words: ['api', 'blocks', 'no'], suggests: 'tonlake api blocks --parameters' },
  {
    of: 'api/client/build-request.ts',
    words: ['api', 'walletStates', '-n', 'NETWORK'],
    suggests: 'tonlake api --network NETWORK walletStates --parameters',
  },
  {
    of: 'api/client/parameter-rules.ts',
    words: ['api', 'decode', '-n', 'NETWORK'],
    suggests: 'tonlake api --network NETWORK decode --parameters',
  },
  {
    of: 'warehouse/no-warehouse.ts',
    words: ['status', '-w', 'v', '-n', 'NETWORK'],
    suggests: 'tonlake run --warehouse v --network NETWORK --range -1000:',
  },
  { of: 'cli/commands/report-command.ts', words: ['report', ...W], suggests: 'tonlake report --warehouse w --list' },
  { of: 'reports/find-report.ts', words: ['report', './no', ...W], suggests: 'tonlake report --warehouse w --list' },
  {
    of: 'reports/analyse-block.ts',
    words: ['report', './own.md', ...W],
    suggests: 'tonlake show --warehouse w',
    given: writes(
      'own.md',
      '---\ntitle: t\ndoc: d\n---\n\n```sql a\nselect nope from transactions\n```\n\n```table a\ntitle: x\n```\n',
    ),
  },
  {
    of: 'cli/commands/sql-command.ts',
    words: ['sql', 'select 1', '--file', 'q.sql', ...W],
    suggests: 'tonlake sql --warehouse w --file q.sql',
    given: writes('q.sql', 'select 1'),
  },
  { of: 'sql/statements.ts', words: ['sql', ' ', ...W], suggests: 'tonlake sql --warehouse w --help' },
  {
    of: 'warehouse/query/query.ts',
    words: ['sql', 'select nope from transactions', ...W],
    suggests: 'tonlake show --warehouse w',
  },
  {
    of: 'warehouse/query/query-coverage.ts',
    words: ['sql', 'from actions', '--strict', ...W],
    suggests: 'tonlake status --warehouse w',
  },
  {
    of: 'warehouse/query/query-coverage.ts',
    words: ['sql', 'from gas_fees_daily', '--strict', ...W],
    suggests: 'stale, built 1 commit ago: tonlake build --warehouse w gas_fees_daily',
    given: runs('build gas_fees_daily -w w', 'run transactions -w w --range 1002'),
  },
  {
    of: 'warehouse/query/suggest-run.ts',
    words: ['sql', 'from actions', '--strict', ...W],
    suggests: 'tonlake run --warehouse w actions --range 1000:1001',
  },
  {
    of: 'warehouse/query/suggest-run.ts',
    words: ['sql', 'from jetton_masters', '--strict', ...W],
    suggests: 'tonlake run --warehouse w jetton_masters',
  },
  {
    of: 'marts/mart-slices.ts',
    words: ['build', 'dex_swaps', ...W],
    suggests: 'tonlake run --warehouse w actions --range 1000:1001',
  },
  {
    of: 'marts/sql-references.ts',
    words: ['build', '--marts', '.', ...W],
    suggests: 'tonlake show --warehouse w',
    given: writes(
      'own.sql',
      '-- Own.\n-- question: q\n-- grain: one\n-- key: n\n-- inputs: transactions\n-- units: none\n-- columns:\n--   n: n\nselect 1 as n from zzz\n',
    ),
  },
  {
    of: 'warehouse/query/status-summary.ts',
    words: ['status', ...W],
    suggests: 'tonlake status --warehouse w blocks',
  },
  { of: 'warehouse/query/status-summary.ts', words: ['status', ...W], suggests: 'tonlake status --warehouse w --long' },
  { of: 'declare/describe-tables.ts', words: ['show', ...W], suggests: 'tonlake show --warehouse w account_info' },
  {
    of: 'export/requested-blocks.ts',
    words: ['run', 'account_latest', '--slice', '1/2', ...IN_W],
    suggests: 'tonlake run --warehouse w --network NETWORK account_latest --range 1000:1001',
  },
  {
    of: 'export/lookup-keys.ts',
    words: ['run', 'account_latest', '--from', `${NOBODY} and mc_block_seqno between $from and $to`, ...IN_W],
    suggests: `tonlake sql --warehouse w '${NOBODY} and mc_block_seqno between 1000 and 1001'`,
  },
  {
    of: 'export/lookup-keys.ts',
    words: ['run', 'jetton_wallets', '--from', 'select owner as owner_address from jetton_burns', ...IN_W],
    suggests: 'tonlake run --warehouse w --network NETWORK jetton_burns --range 1000:1001',
  },
  {
    of: 'export/lookup-keys.ts',
    words: ['run', 'account_latest', '--from', 'select source as address from messages', '--range', '1002', '-w', 'v'],
    suggests: 'tonlake run --warehouse v transactions --range 1002',
    given: runs('run transactions --range 1002 -n sandbox -w v --without-column messages.source'),
  },
  {
    of: 'files/file-failure.ts',
    words: ['sql', 'select sum(lt) from transactions', ...W],
    suggests: 'tonlake verify --warehouse w --repair',
    given: removes('transactions'),
  },
  {
    of: 'files/damaged-data.ts',
    words: ['copy', 'w', 'v'],
    suggests: 'tonlake verify --repair --warehouse FOLDER/w',
    given: damages('transactions'),
  },
  {
    of: 'verify/add-warehouses.ts',
    words: ['copy', '--add', 'w', 'v'],
    suggests: 'tonlake build gas_fees_daily --warehouse FOLDER/v',
    given: runs('build gas_fees_daily -w w'),
  },
  {
    of: 'files/damaged-data.ts',
    words: ['copy', '--add', 'w', 'v'],
    suggests: 'tonlake verify --repair --warehouse FOLDER/w',
    given: damages('transactions'),
  },
  ...['run transactions --range 1002', 'publish iceberg', 'publish duckdb', 'compact'].map((command) => ({
    of: 'files/damaged-data.ts',
    words: [...command.split(' '), ...W],
    suggests: 'tonlake verify --repair --warehouse FOLDER/w',
    given: removes('transactions'),
  })),
  {
    of: 'warehouse/ledger/ledger-folder.ts',
    words: ['sql', 'from blocks', ...W],
    suggests: 'tonlake verify --repair --warehouse FOLDER/w',
    given: (folder) => rmSync(join(folder, 'w', 'tonlake.json')),
  },
  {
    of: 'warehouse/ledger/entries.ts',
    words: ['status', ...W],
    suggests: 'tonlake verify --warehouse w',
    given: writes('w/_ledger/00000001.json', '{}'),
    code: 1,
  },
  {
    of: 'verify/show-findings.ts',
    words: ['verify', '--range', '1000:1002', ...W],
    suggests: 'tonlake run blocks transactions --range 1002 --network NETWORK --warehouse w',
  },
  {
    of: 'jobs/maintenance.ts',
    words: ['job', 'run', 'jobs/nightly.yaml'],
    suggests: 'tonlake verify --repair --warehouse v',
    given: async (folder) => {
      await runs('run transactions --range 1000:1001 -n sandbox -w v')(folder);
      damages('transactions', 'v')(folder);
      job('verify: {}')(folder);
    },
  },
  {
    of: 'jobs/outputs.ts',
    words: ['job', 'run', 'jobs/nightly.yaml'],
    suggests: 'tonlake status --warehouse v',
    given: job('reports: [{report: network-daily, params: {from: 2001-01-01, to: 2001-01-02}, output: out.html}]'),
  },
  { of: 'jobs/parse-job.ts', words: ['job', 'run', 'jobs/no.yaml'], suggests: 'tonlake job list jobs', given: job('') },
  { of: 'jobs/list-jobs.ts', words: ['job', 'list', 'no'], suggests: 'tonlake job list jobs', given: job('') },
  {
    of: 'jobs/check-queries.ts',
    words: ['job', 'run', 'jobs/nightly.yaml'],
    suggests: 'tonlake show',
    given: job('exports: [{query: "select nope from transactions", output: out.csv}]'),
  },
  {
    of: 'jobs/check-retention.ts',
    words: ['job', 'run', 'jobs/nightly.yaml'],
    suggests: 'tonlake show jetton_masters',
    given: job('retention: {keep: 5d, pipelines: [jetton_masters]}'),
  },
  {
    of: 'cli/job-show.ts',
    words: ['job', 'log', 'jobs/nightly.yaml', 'no'],
    suggests: 'tonlake job list jobs/nightly.yaml --json',
    given: job(''),
  },
  {
    of: 'cli/job-show.ts',
    words: ['job', 'log', 'jobs/nightly.yaml', '--since', '24h'],
    suggests: 'tonlake job list jobs/nightly.yaml',
    given: job(''),
  },
  {
    of: 'feed/load-alerts.ts',
    words: ['run', 'transactions', ...IN_W, '--alerts', 'a.yaml'],
    suggests: 'tonlake show --warehouse w',
    given: alert('new_transactions'),
  },
  {
    of: 'feed/followed-tables.ts',
    words: ['run', 'transactions', ...IN_W, '--alerts', 'a.yaml'],
    suggests: 'tonlake show --warehouse w',
    given: alert('new_transaktions'),
  },
  {
    of: 'chain/warehouse-times.ts',
    words: ['verify', '--range=-1h:5000', ...W],
    suggests: 'tonlake status --warehouse w',
  },
  { of: 'cli/run-live.ts', words: ['run', 'transactions', ...IN_W], suggests: 'tonlake status --warehouse w' },
  {
    of: 'cli/run-live.ts',
    words: ['run', 'transactions', '--range', '900000000', '--network', 'NETWORK', '-w', 'v'],
    suggests: 'tonlake run transactions --network NETWORK --range 900000000 --warehouse v',
    code: 1,
  },
  {
    of: 'jobs/job-steps.ts',
    words: ['job', 'run', 'jobs/nightly.yaml'],
    suggests: 'tonlake status --warehouse v',
    given: writes(
      'jobs/nightly.yaml',
      '{network: sandbox, warehouse: v, pipelines: [transactions], range: "1000:1001,900000000"}',
    ),
  },
  {
    of: 'warehouse/query/double-entries.ts',
    words: ['sql', 'from transactions', ...W],
    suggests: 'tonlake verify --repair --warehouse FOLDER/w',
    given: (folder) => {
      const entry = JSON.parse(readFileSync(join(folder, 'w/_ledger/00000002.json'), 'utf8')) as object;
      writes('w/_ledger/00000003.json', JSON.stringify({ ...entry, number: 3, id: 'a'.repeat(12) }))(folder);
    },
  },
  {
    of: 'declare/check-declaration.ts',
    words: ['show', '--pipelines', 'own', ...W],
    suggests: 'tonlake show',
    given: writes('own/own_orders.js', OWN_ORDERS.replace("column: 'tx_lt'", "column: 'nope'")),
  },
  {
    of: 'export/repeated-failure.ts',
    words: ['run', 'own_orders', '--pipelines', 'own', '--range', '1000:1049', '-n', 'sandbox', '-w', 'v'],
    suggests: 'tonlake api --network sandbox jetton/transfers limit=1',
    given: writes('own/own_orders.js', MISTAKE),
  },
  {
    of: 'cli/pending-live.ts',
    words: ['follow', '--pending', `-1:${'3'.repeat(64)}`, '--for', '1s', '--network', 'NETWORK', '-w', 'v'],
    suggests:
      'tonlake sql "select account, seen_at, finality from pending_transactions order by seen_at" --warehouse v',
  },
  ...(['missing', 'torn'] as const).map((how) => ({
    of: how === 'torn' ? 'declare/stored-declaration.ts' : 'warehouse/ledger/declarations.ts',
    words: ['sql', 'from own_orders', '-w', 'v'],
    suggests: 'tonlake verify --warehouse v',
    given: async (folder: string) => {
      writes('own/own_orders.js', OWN_ORDERS)(folder);
      await runs('run own_orders --pipelines own --range 1000:1049 -n sandbox -w v')(folder);
      const declared = join(folder, 'v/_declarations');
      for (const name of readdirSync(declared).filter((each) => each.startsWith('own_orders'))) {
        if (how === 'torn') writeFileSync(join(declared, name), '{');
        else rmSync(join(declared, name));
      }
    },
    code: 1,
  })),
  {
    of: 'warehouse/query/status.ts',
    words: ['status', '--long', '-w', 'v'],
    suggests: 'tonlake sql --warehouse v "select * from quarantine"',
    given: async (folder) => {
      writes('own/own_orders.js', SOMETIMES_ABSENT)(folder);
      await runs('run own_orders --pipelines own --range 1000:1009 -n sandbox -w v')(folder);
    },
  },
];

/** Sources whose suggestions are beyond a command and a file, and where else they are tested, or why they are not. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'cli/commands/init-command.ts': 'e2e/nightly runs the job of a new project',
  'cli/publishing.ts': 'iceberg/catalog-along',
  'declare/walk.ts': 'a command that follows until it is interrupted, below',
  'export/row-packs.ts': 'export/quote: only a lost update of the plan reaches it',
  'follow/followed-marts.ts': 'a command that follows until it is interrupted, below',
  'iceberg/publish-table.ts': 'iceberg/manifests',
  'iceberg/publish-warehouse.ts': 'iceberg/publish; the command of warehouse/no-warehouse, above',
  'reports/report.ts': 'package: the way to the holders of a jetton; reports/render',
  'ui/job-routes.ts': 'ui/jobs',
  'ui/read-relations.ts': 'ui/queries',
  'ui/read-overview.ts': 'ui/explore',
  'ui/serve-ui.ts': 'ui/jobs',
  'verify/repair.ts': 'verify/verify',
  'verify/verify.ts': 'verify/memory',
  'warehouse/compaction/prove-merge.ts': 'warehouse/prove-merge: only damaged memory reaches it',
  'warehouse/copy/copy-warehouse.ts': 'warehouse/copy: a race with garbage collection',
  'warehouse/parquet-store/rebuild-catalog.ts': 'e2e/bucket',
};
