import * as z from 'zod';
import { REPORT_FORMATS } from '../reports/report-format.ts';
import { WHOLE_FORMATS } from '../targets/target.ts';
import { exportOptions, publishOptions, runOptions, verifyOptions } from './step-options.ts';

/** The schema of job files; docs/job.schema.json is generated from it. `checkJob` checks the names. */

const text = z.string().min(1);
const texts = z.array(text);

/** JSON Schema for a mapping with exactly one of some keys. */
export const oneOfKeys = (...keys: readonly string[]) => keys.map((key) => ({ required: [key] }));

/** Undefined for all. */
const names = (what: string) =>
  z
    .union([z.literal('all'), texts])
    .default([])
    .transform((list) => (list === 'all' ? undefined : list))
    .describe(`Names of ${what}, or \`all\`.`);

const output = text.describe(
  'Path of the file, relative to the working folder, or `s3://bucket/path`. Placeholders: `{first_date}` and `{date}`, the first and last day of the range, and `{job}`, the name of the job.',
);

const formatOf = <Format extends string>(formats: readonly Format[]) =>
  z.enum(formats).optional().describe('Default: from the file extension of `output`. It must match the extension.');

const report = z
  .strictObject({
    report: text.describe('Name of a report in sql/reports, or the path of your own.'),
    params: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
      .default({})
      .describe(
        'Parameters of the report, passed as bound values. They can contain the same placeholders as `output`.',
      ),
    format: formatOf(REPORT_FORMATS),
    output,
  })
  .describe('A report to write when all checks have passed.');

const exported = z
  .strictObject({
    table: text.optional().describe('Table or mart to export in full, in key order.'),
    query: text
      .optional()
      .describe(
        'Query to export. `$from` and `$to` are the first and last masterchain block of the range, `$first_date` and `$date` its first and last day.',
      ),
    file: text.optional().describe('File with such a query.'),
    format: formatOf(WHOLE_FORMATS),
    output: output.optional(),
    to: text
      .optional()
      .describe(
        'Instead of `output`, a database: `postgres://user@host/database` or `https://user@host:8443/database` (ClickHouse) without a password, or a path that ends in .sqlite or .db. The days of the range are replaced there.',
      ),
    as: exportOptions.as.optional(),
  })
  .meta({
    description: 'Rows to write to a file or a database when all checks have passed.',
    oneOf: oneOfKeys('table', 'query', 'file'),
  });

export const noticeKeys = ['webhook', 'webhook_env', 'command'] as const;

/** Fields of a notification target: one of {@link noticeKeys}. */
export const noticeFields = (what: string) => ({
  webhook: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(`URL that receives the ${what} as JSON in a POST request.`),
  webhook_env: text.optional().describe('Environment variable with the URL, to keep it out of files.'),
  command: z
    .array(z.string())
    .min(1)
    .optional()
    .describe(`Program and arguments, run without a shell. It receives the ${what} as JSON on standard input.`),
});

const notice = z
  .strictObject({
    ...noticeFields('result'),
    on: z.enum(['failure', 'success', 'always']).default('failure').describe('When to notify. Default: failure.'),
  })
  .meta({
    description: 'Whom to notify of the result.',
    oneOf: oneOfKeys(...noticeKeys),
  });

const schedule = z
  .strictObject({
    cron: text.describe(
      'Five fields: minute, hour, day of month, month, day of week. `15 3 * * *` is every night at 03:15.',
    ),
    zone: text
      .optional()
      .describe('Time zone of the cron expression, such as `Europe/Berlin`. Default: `zone` of the job.'),
    catch_up: z
      .int()
      .min(0)
      .max(366)
      .default(7)
      .describe(
        'Maximum number of missed runs to catch up on after downtime: the newest ones, oldest first. 0 for none. Default: 7.',
      ),
    expected_by: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d( \S+)?$/, 'a time of day such as 06:00, or 06:00 UTC')
      .optional()
      .describe(
        'Time of day by which a run is expected to be done, in the zone of the schedule or in one that follows it: `06:00 UTC`. A run that is not done by then is late, and `notify` reports it like a failure. Default: when the next run is due.',
      ),
  })
  .describe('When `tonlake job schedule` runs the job.');

const VERIFY_NEW = { all: false, deep: false, repair: false } as const;

const verification = z
  .union([
    z.boolean().transform((isWanted) => (isWanted ? VERIFY_NEW : undefined)),
    z.strictObject({
      all: z
        .boolean()
        .default(false)
        .describe(
          'Verify the whole warehouse, and not only what was committed since the job last verified it. Default: false.',
        ),
      deep: verifyOptions.deep.default(false),
      repair: verifyOptions.repair.default(false),
    }),
  ])
  .prefault(false)
  .describe(
    'Verify what was committed since the job last verified the warehouse. Remaining damage fails the job, and nothing is published. Default: false.',
  );

const RETAINED_DAYS = 'a number of days such as 90d';

const retention = z
  .strictObject({
    keep: z
      .string(RETAINED_DAYS)
      .regex(/^[1-9]\d{0,4} ?d(ays?)?$/, RETAINED_DAYS)
      .transform((text) => Number.parseInt(text, 10))
      .describe('Number of whole UTC days to keep, counted back from the moment of the run, such as `90d`.'),
    pipelines: texts
      .min(1)
      .optional()
      .describe(
        'Pipelines whose older rows are forgotten. Default: those of the job, and those they depend on, whose rows belong to blocks.',
      ),
  })
  .describe('Forget older rows when all outputs are published, like `tonlake forget`. Daily marts keep their days.');

const iceberg = z
  .union([
    z.boolean(),
    z.strictObject({
      catalog: publishOptions.catalog.optional(),
      namespace: publishOptions.namespace.optional(),
      warehouse: publishOptions.catalogWarehouse.optional(),
      location: publishOptions.location.optional(),
    }),
  ])
  .describe(
    'Publish the tables and marts as Apache Iceberg tables when all outputs are published, like `tonlake publish iceberg`. Default: false.',
  );

export const jobSchema = z
  .strictObject({
    doc: z.string().optional().describe('A one-sentence description of the job.'),
    network: text.describe('mainnet, testnet, sandbox, or a base URL.'),
    warehouse: text
      .optional()
      .describe('Folder of Parquet files, s3://bucket/prefix, or path of a .duckdb file. Default: data/<network>.'),
    rps: runOptions.rps.optional(),
    priority: runOptions.priority.optional(),
    pipelines: texts.default([]).describe('Pipelines to export, with those they depend on.'),
    without: runOptions.without.optional(),
    columns: runOptions.columns.optional(),
    without_columns: runOptions.withoutColumns.optional(),
    range: z
      .union([text, z.int()])
      .transform(String)
      .optional()
      .describe(
        '`yesterday`, `last 7 days`, `since last run`, a day, or any range of `tonlake run --range`. Quote values with a colon.',
      ),
    start: z
      .union([text, z.int()])
      .transform(String)
      .optional()
      .describe('Where `since last run` starts on the first run: a day or a masterchain seqno.'),
    zone: text.default('UTC').describe('Time zone of days. Default: UTC, as in the tables.'),
    clock: z
      .enum(['wall', 'chain'])
      .optional()
      .describe(
        '`wall` counts days back from the time the run is due, `chain` from the newest block. Default: `chain` on the sandbox, otherwise `wall`.',
      ),
    verify: verification,
    compact: z
      .boolean()
      .default(false)
      .describe('Merge small files after the export, like `tonlake compact`. Default: false.'),
    iceberg: iceberg.optional(),
    retention: retention.optional(),
    marts: names('marts to build'),
    checks: names('checks to run'),
    reports: z.array(report).default([]).describe('Reports to publish when all checks have passed.'),
    exports: z.array(exported).default([]).describe('Rows to publish as files when all checks have passed.'),
    notify: z.array(notice).default([]).describe('Whom to notify of the result.'),
    schedule: schedule.optional(),
  })
  .meta({ title: 'tonlake job', description: 'What to export, build, check and publish, and when.' });

/** The contents of a job file, with defaults. */
export type JobFields = Readonly<z.output<typeof jobSchema>>;
export type ReportTarget = Readonly<z.output<typeof report>>;
export type ExportTarget = Readonly<z.output<typeof exported>>;
export type Notice = Readonly<z.output<typeof notice>>;
export type NoticeFields = Pick<Notice, (typeof noticeKeys)[number]>;
