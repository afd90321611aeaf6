import * as z from 'zod';
import { formatError, TonlakeError } from '../core/errors.ts';
import { markSchema } from '../files/process-liveness.ts';

/** State of a run. `abandoned`: unfinished and not resumed. */
const stateSchema = z.enum(['running', 'publishing', 'done', 'failed', 'interrupted', 'abandoned']);

const stepSchema = z.object({
  kind: z.enum([
    'preflight',
    'range',
    'export',
    'verify',
    'compact',
    'mart',
    'check',
    'report',
    'rows',
    'publish',
    'retention',
    'iceberg',
    'notify',
  ]),
  /** Of the mart, check, report or file; the pipelines of the export. */
  name: z.string(),
  /** The database that rows were written to. */
  to: z.string().optional(),
  status: z.enum(['done', 'failed', 'skipped']),
  seconds: z.number(),
  /** Rows by table: added by this attempt, contained in a mart or file, or removed by a retention. */
  rows: z.record(z.string(), z.number()).optional(),
  requests: z.number().optional(),
  /** The newest entry of the ledger that a verification read: the next one begins after it. */
  entry: z.number().optional(),
  /** Hash of the entries that were in force then. */
  ledger: z.string().optional(),
  /** Details, or why it failed. */
  message: z.string().optional(),
});

const outputSchema = z.object({
  /** Absolute. */
  path: z.string(),
  /** Path of the staged file until all are published. */
  staged: z.string(),
  bytes: z.number(),
  sha256: z.string(),
});

/** The range of one run, fixed when it starts: a rerun has the same. */
const rangeSchema = z.object({
  /** A value for `tonlake run --range`; undefined if there is nothing to export. */
  blocks: z.string().optional(),
  /** First and last masterchain block; undefined if there is none. */
  from: z.number().optional(),
  to: z.number().optional(),
  /** First and last day, if the range starts or ends with a day; otherwise they follow from the blocks. */
  firstDay: z.string().optional(),
  lastDay: z.string().optional(),
});
export type FixedRange = Readonly<z.output<typeof rangeSchema>>;

export const recordSchema = z.object({
  format: z.literal(1),
  /** Due time, and a number if there are several: `20260504T011500Z-2`. Sorts by time. */
  id: z.string(),
  job: z.string(),
  file: z.string(),
  digest: z.string(),
  network: z.string(),
  warehouse: z.string(),
  pipelines: z.array(z.string()),
  zone: z.string(),
  trigger: z.enum(['manual', 'schedule', 'catch-up']),
  /** Due time: ISO 8601, UTC. */
  due: z.string(),
  /** The moment from which days are counted, also shown in reports: ISO 8601, UTC; the same for every attempt. */
  now: z.string().optional(),
  state: stateSchema,
  range: rangeSchema.optional(),
  /** Start and, if known, end of each process that worked on the run. */
  attempts: z.array(
    z.object({
      startedAt: z.string(),
      endedAt: z.string().optional(),
      owner: markSchema,
    }),
  ),
  /** Steps of the last attempt. */
  steps: z.array(stepSchema),
  outputs: z.array(outputSchema),
  /** When all outputs were at their final paths; retention and Iceberg tables come later. ISO 8601, UTC. */
  publishedAt: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

/** One run of a job, with the results of its steps. */
export type JobRecord = Readonly<z.output<typeof recordSchema>>;
export type JobState = z.output<typeof stateSchema>;
export type StepResult = Readonly<z.output<typeof stepSchema>>;
export type StagedOutput = Readonly<z.output<typeof outputSchema>>;

/** Databases that a run wrote to, each once. */
export function databasesOf({ steps }: Pick<JobRecord, 'steps'>): readonly string[] {
  return [...new Set(steps.flatMap(({ to, status }) => (status === 'done' && to !== undefined ? [to] : [])))];
}

/** A failure, as stored in a record. */
export function faultOf(error: unknown): NonNullable<JobRecord['error']> {
  return { code: error instanceof TonlakeError ? error.code : 'unexpected', message: formatError(error) };
}

/** True if a run in this state will not continue. */
export function isOver(state: JobState): boolean {
  return state !== 'running' && state !== 'publishing' && state !== 'interrupted';
}

/** True if a run found no new blocks to export. */
export function hasNothingNew({ pipelines, range }: Pick<JobRecord, 'pipelines' | 'range'>): boolean {
  return pipelines.length > 0 && range !== undefined && range.blocks === undefined;
}

/** `20260504T011500Z`: the due time as a prefix of record ids. */
export function dueId(due: number): string {
  return new Date(due).toISOString().replace(/[-:]|\.\d+/g, '');
}
