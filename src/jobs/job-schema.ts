import * as z from 'zod';
import { REPORT_FORMATS } from '../reports/report-format.ts';
import { EXPORT_FORMATS } from './export-formats.ts';

/** What a job file may hold; docs/job.schema.json is made from it. Names are checked apart, by `checkNames`. */

const names = (what: string): z.ZodType<'all' | readonly string[]> =>
  z.union([z.literal('all'), z.array(z.string().min(1))]).describe(`Names of ${what}, or \`all\` of them.`);

const output = z
  .string()
  .min(1)
  .describe(
    'Path of the file, relative to the working folder. `{first_date}` and `{date}` stand for the first and last day of the range, `{job}` for the name of the job.',
  );

const report = z
  .strictObject({
    report: z.string().min(1).describe('Name of a report of sql/reports, or the path of one of your own.'),
    params: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
      .default({})
      .describe(
        'Parameters of the report, bound and never pasted. Words in braces stand for what they stand for in `output`.',
      ),
    format: z
      .enum(REPORT_FORMATS)
      .optional()
      .describe('Default: what the ending of `output` says, which may not be that of another.'),
    output,
  })
  .describe('A report that is written when every check has passed.');

const exported = z
  .strictObject({
    table: z.string().min(1).optional().describe('Table or mart, exported whole in the order of its key.'),
    query: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Select; `$from` and `$to` are the first and last masterchain block of the range, `$first_date` and `$date` its first and last day.',
      ),
    file: z.string().min(1).optional().describe('File that holds such a select.'),
    format: z
      .enum(EXPORT_FORMATS)
      .optional()
      .describe('Default: what the ending of `output` says, which may not be that of another.'),
    output,
  })
  .meta({
    description: 'Rows that are written to a file when every check has passed.',
    oneOf: ['table', 'query', 'file'].map((key) => ({ required: [key] })),
  });

const notice = z
  .strictObject({
    webhook: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('Address that gets the outcome as JSON by POST.'),
    webhook_env: z
      .string()
      .min(1)
      .optional()
      .describe('Environment variable that holds such an address, which is then in no file.'),
    command: z
      .array(z.string())
      .min(1)
      .optional()
      .describe('Program and arguments; the outcome stands on its standard input as JSON. No shell is involved.'),
    on: z.enum(['failure', 'success', 'always']).default('failure').describe('When to tell. Default: on failure.'),
  })
  .meta({
    description: 'Who is told of the outcome.',
    oneOf: ['webhook', 'webhook_env', 'command'].map((key) => ({ required: [key] })),
  });

const schedule = z
  .strictObject({
    cron: z
      .string()
      .min(1)
      .describe('Five fields: minute, hour, day of month, month, day of week. `15 3 * * *` is every night at 03:15.'),
    zone: z
      .string()
      .min(1)
      .optional()
      .describe('Time zone of the cron expression, such as `Europe/Berlin`. Default: `zone` of the job.'),
    catch_up: z
      .int()
      .min(0)
      .max(366)
      .default(7)
      .describe(
        'Most missed runs that are made up for after downtime, the newest ones, oldest first. 0 for none. Default 7.',
      ),
  })
  .describe('When `tonlake schedule` runs the job.');

const verification = z
  .union([
    z.boolean(),
    z.strictObject({
      range: z
        .enum(['all', 'run'])
        .default('all')
        .describe('`all`: everything that the warehouse holds; `run`: the blocks of the run. Default: all.'),
      deep: z.boolean().default(false).describe('As `tonlake verify --deep`. Default: false.'),
      repair: z
        .boolean()
        .default(false)
        .describe('Bring damaged rows in again, as `tonlake verify --repair`. Default: false.'),
    }),
  ])
  .default(false)
  .describe(
    'Prove the warehouse from its own files after the export. Damage that stays fails the job: nothing is published. Default: false.',
  );

export const jobSchema = z
  .strictObject({
    doc: z.string().optional().describe('What the job is for, in a sentence.'),
    network: z.string().min(1).describe('mainnet, testnet, sandbox, or a base address.'),
    warehouse: z
      .string()
      .min(1)
      .optional()
      .describe('Folder of Parquet files, or a file that ends in .duckdb. Default: data/<network>.'),
    rps: z
      .union([z.number().positive(), z.literal('auto')])
      .optional()
      .describe('Most requests per second.'),
    lane: z
      .enum(['interactive', 'tail', 'backfill'])
      .default('backfill')
      .describe('Who goes first where processes share the budget of a network.'),
    pipelines: z.array(z.string().min(1)).default([]).describe('What to export; what it needs comes with it.'),
    without: z.array(z.string().min(1)).optional().describe('Tables not to export, such as `account_states`.'),
    columns: z
      .record(z.string().min(1), z.array(z.string().min(1)).min(1))
      .optional()
      .describe(
        'The only columns of some tables to export, by table, beside those that every export has: key, order, time and proof.',
      ),
    without_columns: z
      .array(z.string().min(1))
      .optional()
      .describe('Columns not to export, such as `messages.body_boc`.'),
    range: z
      .union([z.string().min(1), z.int()])
      .transform(String)
      .optional()
      .describe(
        '`yesterday`, `last 7 days`, `since last run`, a day, or a range as `tonlake run --range` takes it. Quote what holds a colon.',
      ),
    start: z
      .union([z.string().min(1), z.int()])
      .transform(String)
      .optional()
      .describe('Where `since last run` begins before there was a run: a day or a masterchain seqno.'),
    zone: z.string().min(1).default('UTC').describe('Time zone of days. Default UTC, as in the tables.'),
    clock: z
      .enum(['wall', 'chain'])
      .optional()
      .describe(
        'What days are counted from: the time that the run is due, or the time of the newest block. Default: wall; chain on the sandbox.',
      ),
    verify: verification,
    compact: z
      .boolean()
      .default(false)
      .describe('Merge small files after the export, as `tonlake compact`. Default: false.'),
    marts: names('marts to build').default([]),
    checks: names('checks to run').default([]),
    reports: z.array(report).default([]).describe('Reports to publish when every check has passed.'),
    exports: z.array(exported).default([]).describe('Rows to publish as files when every check has passed.'),
    notify: z.array(notice).default([]).describe('Whom to tell of the outcome.'),
    schedule: schedule.optional(),
  })
  .meta({ title: 'tonlake job', description: 'A job: what to export, build, check and publish, and when.' });

/** A job as its file says, with the defaults filled in. */
export type JobFields = Readonly<z.output<typeof jobSchema>>;
export type ReportTarget = Readonly<z.output<typeof report>>;
export type ExportTarget = Readonly<z.output<typeof exported>>;
export type Notice = Readonly<z.output<typeof notice>>;

/** The JSON Schema of job files, for editors. */
export function jobJsonSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(jobSchema, { target: 'draft-07', io: 'input' }), null, 2)}\n`;
}
