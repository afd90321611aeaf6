import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tonlake } from '../cli.ts';
import { MISTAKE, OWN_ORDERS } from '../own-pipeline.ts';

/** What a command suggests that fails or warns: a command that can be typed as it stands. */
interface Suggestion {
  readonly suggests: string;
  /** What else there is in the folder. */
  readonly given?: (folder: string) => Promise<void> | void;
  /** Exit code of the suggested command; default 0. */
  readonly code?: number;
}

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

/** The own_orders of the warehouse `v`, whose declaration is damaged. */
const damagedDeclaration = (damage: (path: string) => void): Suggestion => ({
  suggests: 'tonlake verify --warehouse v',
  given: async (folder) => {
    writes('own/own_orders.js', OWN_ORDERS)(folder);
    await runs('run own_orders --pipelines own --range 1000:1049 -n sandbox -w v')(folder);
    const declared = join(folder, 'v/_declarations');
    const names = readdirSync(declared).filter((each) => each.startsWith('own_orders'));
    for (const name of names) damage(join(declared, name));
  },
  code: 1,
});

const REMOVED = { suggests: 'tonlake verify --repair --warehouse FOLDER/w', given: removes('transactions') };

/**
 * Suggestions by the source of their text, and by the command. `NETWORK` stands for the sandbox, whose blocks 1000:1001 are in the
 * warehouse `w`.
 */
export const SUGGESTIONS: Readonly<Record<string, Readonly<Record<string, string | Suggestion>>>> = {
  'cli/pipeline-names.ts': {
    'run transactions 1000:1001 -w w': 'tonlake run --warehouse w transactions -r 1000:1001',
    'run gas_fees_daily --range 1000 -w w': 'tonlake build --warehouse w gas_fees_daily',
  },
  'declare/selection.ts': {
    'run transactions --columns transactions=nope --range 1000 -w w': 'tonlake show --warehouse w transactions',
  },
  'show/row-key.ts': {
    'show transactions nope=1 -w w': 'tonlake show --warehouse w transactions',
    [`show transactions ${ABSENT} 5 -w w`]: 'tonlake show --warehouse w transactions',
  },
  'show/explain-row.ts': {
    'show actions_ton_transfer x -w w': 'tonlake show --warehouse w actions',
  },
  'show/describe-thing.ts': {
    [`show ${ABSENT} -w w`]: 'tonlake status --warehouse w',
  },
  'show/show-thing.ts': {
    'show @alice -w w': 'tonlake run --warehouse w dns_records --range -1000:',
  },
  'cli/commands/show-command.ts': {
    'show --files -w w': 'tonlake show --warehouse w transactions --files',
    'show gas_fees_daily --files -w w': 'tonlake build --warehouse w gas_fees_daily',
  },
  'verify/plan-forget.ts': {
    'forget blocks --range 1000 -w w': 'tonlake forget --warehouse w blocks transactions --range 1000',
    'forget jetton_masters --range 1000 -w w': 'tonlake show --warehouse w jetton_masters',
  },
  'api/endpoints.ts': {
    'api nope': 'tonlake api',
  },
  'cli/commands/api-command.ts': {
    'api blocks no': 'tonlake api blocks --parameters',
  },
  'api/client/build-request.ts': {
    'api walletStates -n NETWORK': 'tonlake api --network NETWORK walletStates --parameters',
  },
  'api/client/parameter-rules.ts': {
    'api decode -n NETWORK': 'tonlake api --network NETWORK decode --parameters',
  },
  'warehouse/no-warehouse.ts': {
    'status -w v -n NETWORK': 'tonlake run --warehouse v --network NETWORK --range -1000:',
  },
  'cli/commands/report-command.ts': {
    'report -w w': 'tonlake report --warehouse w --list',
  },
  'reports/find-report.ts': {
    'report ./no -w w': 'tonlake report --warehouse w --list',
  },
  'reports/analyse-block.ts': {
    'report ./own.md -w w': {
      suggests: 'tonlake show --warehouse w',
      given: writes(
        'own.md',
        '---\ntitle: t\ndoc: d\n---\n\n```sql a\nselect nope from transactions\n```\n\n```table a\ntitle: x\n```\n',
      ),
    },
  },
  'cli/commands/sql-command.ts': {
    'sql "select 1" --file q.sql -w w': {
      suggests: 'tonlake sql --warehouse w --file q.sql',
      given: writes('q.sql', 'select 1'),
    },
  },
  'sql/statements.ts': {
    'sql " " -w w': 'tonlake sql --warehouse w --help',
  },
  'warehouse/query/query.ts': {
    'sql "select nope from transactions" -w w': 'tonlake show --warehouse w',
  },
  'warehouse/query/query-coverage.ts': {
    'sql "from actions" --strict -w w': 'tonlake status --warehouse w',
    'sql "from gas_fees_daily" --strict -w w': {
      suggests: 'stale, built 1 commit ago: tonlake build --warehouse w gas_fees_daily',
      given: runs('build gas_fees_daily -w w', 'run transactions -w w --range 1002'),
    },
  },
  'warehouse/query/suggest-run.ts': {
    'sql "from actions" --strict -w w': 'tonlake run --warehouse w actions --range 1000:1001',
    'sql "from jetton_masters" --strict -w w': 'tonlake run --warehouse w jetton_masters',
  },
  'marts/mart-slices.ts': {
    'build dex_swaps -w w': 'tonlake run --warehouse w actions --range 1000:1001',
  },
  'marts/sql-references.ts': {
    'build --marts . -w w': {
      suggests: 'tonlake show --warehouse w',
      given: writes(
        'own.sql',
        '-- Own.\n-- question: q\n-- grain: one\n-- key: n\n-- inputs: transactions\n-- units: none\n-- columns:\n--   n: n\nselect 1 as n from zzz\n',
      ),
    },
  },
  'warehouse/query/status-summary.ts': {
    'status -w w': 'tonlake status --warehouse w blocks',
    'status -w w -n NETWORK': 'tonlake status --warehouse w --long',
  },
  'declare/describe-tables.ts': {
    'show -w w': 'tonlake show --warehouse w account_info',
  },
  'export/requested-blocks.ts': {
    'run account_latest --slice 1/2 --range 1000:1001 -n NETWORK -w w':
      'tonlake run --warehouse w --network NETWORK account_latest --range 1000:1001',
  },
  'export/lookup-keys.ts': {
    [`run account_latest --from "${NOBODY} and mc_block_seqno between $from and $to" --range 1000:1001 -n NETWORK -w w`]: `tonlake sql --warehouse w '${NOBODY} and mc_block_seqno between 1000 and 1001'`,
    'run jetton_wallets --from "select owner as owner_address from jetton_burns" --range 1000:1001 -n NETWORK -w w':
      'tonlake run --warehouse w --network NETWORK jetton_burns --range 1000:1001',
    'run account_latest --from "select source as address from messages" --range 1002 -w v': {
      suggests: 'tonlake run --warehouse v transactions --range 1002',
      given: runs('run transactions --range 1002 -n sandbox -w v --without-column messages.source'),
    },
  },
  'files/file-failure.ts': {
    'sql "select sum(lt) from transactions" -w w': {
      suggests: 'tonlake verify --warehouse w --repair',
      given: removes('transactions'),
    },
  },
  'files/damaged-data.ts': {
    'run transactions --range 1002 -w w': REMOVED,
    'publish iceberg -w w': REMOVED,
    'publish duckdb -w w': REMOVED,
    'compact -w w': REMOVED,
    'copy w v': { suggests: 'tonlake verify --repair --warehouse FOLDER/w', given: damages('transactions') },
    'copy --add w v': { suggests: 'tonlake verify --repair --warehouse FOLDER/w', given: damages('transactions') },
  },
  'verify/add-warehouses.ts': {
    'copy --add w v': {
      suggests: 'tonlake build gas_fees_daily --warehouse FOLDER/v',
      given: runs('build gas_fees_daily -w w'),
    },
  },
  'warehouse/ledger/ledger-folder.ts': {
    'sql "from blocks" -w w': {
      suggests: 'tonlake verify --repair --warehouse FOLDER/w',
      given: (folder) => rmSync(join(folder, 'w', 'tonlake.json')),
    },
  },
  'warehouse/ledger/entries.ts': {
    'status -w w': {
      suggests: 'tonlake verify --warehouse w',
      given: writes('w/_ledger/00000001.json', '{}'),
      code: 1,
    },
  },
  'verify/show-findings.ts': {
    'verify --range 1000:1002 -w w': 'tonlake run blocks transactions --range 1002 --network NETWORK --warehouse w',
  },
  'jobs/maintenance.ts': {
    'job run jobs/nightly.yaml': {
      suggests: 'tonlake verify --repair --warehouse v',
      given: async (folder) => {
        await runs('run transactions --range 1000:1001 -n sandbox -w v')(folder);
        damages('transactions', 'v')(folder);
        job('verify: {}')(folder);
      },
    },
  },
  'jobs/outputs.ts': {
    'job run jobs/nightly.yaml': {
      suggests: 'tonlake status --warehouse v',
      given: job('reports: [{report: network-daily, params: {from: 2001-01-01, to: 2001-01-02}, output: out.html}]'),
    },
  },
  'jobs/parse-job.ts': {
    'job run jobs/no.yaml': { suggests: 'tonlake job list jobs', given: job('') },
  },
  'jobs/list-jobs.ts': {
    'job list no': { suggests: 'tonlake job list jobs', given: job('') },
  },
  'jobs/check-queries.ts': {
    'job run jobs/nightly.yaml': {
      suggests: 'tonlake show',
      given: job('exports: [{query: "select nope from transactions", output: out.csv}]'),
    },
  },
  'jobs/check-retention.ts': {
    'job run jobs/nightly.yaml': {
      suggests: 'tonlake show jetton_masters',
      given: job('retention: {keep: 5d, pipelines: [jetton_masters]}'),
    },
  },
  'cli/job-show.ts': {
    'job log jobs/nightly.yaml no': { suggests: 'tonlake job list jobs/nightly.yaml --json', given: job('') },
    'job log jobs/nightly.yaml --since 24h': { suggests: 'tonlake job list jobs/nightly.yaml', given: job('') },
  },
  'feed/load-alerts.ts': {
    'run transactions --range 1000:1001 -n NETWORK -w w --alerts a.yaml': {
      suggests: 'tonlake show --warehouse w',
      given: alert('new_transactions'),
    },
  },
  'feed/followed-tables.ts': {
    'run transactions --range 1000:1001 -n NETWORK -w w --alerts a.yaml': {
      suggests: 'tonlake show --warehouse w',
      given: alert('new_transaktions'),
    },
  },
  'chain/warehouse-times.ts': {
    'verify --range=-1h:5000 -w w': 'tonlake status --warehouse w',
  },
  'cli/run-live.ts': {
    'run transactions --range 1000:1001 -n NETWORK -w w': 'tonlake status --warehouse w',
    'run transactions --range 900000000 --network NETWORK -w v': {
      suggests: 'tonlake run transactions --network NETWORK --range 900000000 --warehouse v',
      code: 1,
    },
  },
  'jobs/job-steps.ts': {
    'job run jobs/nightly.yaml': {
      suggests: 'tonlake status --warehouse v',
      given: writes(
        'jobs/nightly.yaml',
        '{network: sandbox, warehouse: v, pipelines: [transactions], range: "1000:1001,900000000"}',
      ),
    },
  },
  'warehouse/query/double-entries.ts': {
    'sql "from transactions" -w w': {
      suggests: 'tonlake verify --repair --warehouse FOLDER/w',
      given: (folder) => {
        const entry = JSON.parse(readFileSync(join(folder, 'w/_ledger/00000002.json'), 'utf8')) as object;
        writes('w/_ledger/00000003.json', JSON.stringify({ ...entry, number: 3, id: 'a'.repeat(12) }))(folder);
      },
    },
  },
  'declare/check-declaration.ts': {
    'show --pipelines own -w w': {
      suggests: 'tonlake show',
      given: writes('own/own_orders.js', OWN_ORDERS.replace("column: 'tx_lt'", "column: 'nope'")),
    },
  },
  'export/repeated-failure.ts': {
    'run own_orders --pipelines own --range 1000:1049 -n sandbox -w v': {
      suggests: 'tonlake api --network sandbox jetton/transfers limit=1',
      given: writes('own/own_orders.js', MISTAKE),
    },
  },
  'cli/pending-live.ts': {
    [`follow --pending -1:${'3'.repeat(64)} --for 1s --network NETWORK -w v`]:
      'tonlake sql "select account, seen_at, finality from pending_transactions order by seen_at" --warehouse v',
  },
  'declare/stored-declaration.ts': {
    'sql "from own_orders" -w v': damagedDeclaration((path) => writeFileSync(path, '{')),
  },
  'warehouse/ledger/declarations.ts': { 'sql "from own_orders" -w v': damagedDeclaration((path) => rmSync(path)) },
  'warehouse/query/status.ts': {
    'status --long -w v': {
      suggests: 'tonlake sql --warehouse v "select * from quarantine"',
      given: async (folder) => {
        writes('own/own_orders.js', SOMETIMES_ABSENT)(folder);
        await runs('run own_orders --pipelines own --range 1000:1009 -n sandbox -w v')(folder);
      },
    },
  },
};

/** Sources whose suggestions are beyond a command and a file, and where else they are tested, or why they are not. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'cli/commands/init-command.ts': 'e2e/nightly runs the job of a new project',
  'cli/publishing.ts': 'iceberg/catalog-along',
  'declare/walk.ts': 'a command that follows until it is interrupted, below',
  'export/reread-blocks.ts': 'e2e/hidden-blocks: only a source that left out a block reaches it',
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
