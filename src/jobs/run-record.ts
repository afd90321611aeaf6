import * as z from 'zod';

/** Where a run stands. `abandoned`: cut short, and not taken up again. */
const stateSchema = z.enum(['running', 'publishing', 'done', 'failed', 'interrupted', 'abandoned']);

const stepSchema = z.object({
  kind: z.enum([
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
    'notify',
  ]),
  /** Of the mart, check, report or file; the pipelines of the export. */
  name: z.string(),
  status: z.enum(['done', 'failed', 'skipped']),
  seconds: z.number(),
  /** Rows by table that this attempt added, that a mart, check or file has, or that a retention removed. */
  rows: z.record(z.string(), z.number()).optional(),
  requests: z.number().optional(),
  /** What there is to tell, or why it failed. */
  message: z.string().optional(),
});

const outputSchema = z.object({
  /** Absolute. */
  path: z.string(),
  /** Where the file waits until all of them are put in place. */
  staged: z.string(),
  bytes: z.number(),
  sha256: z.string(),
});

const rangeSchema = z.object({
  blocks: z.string().optional(),
  from: z.number().optional(),
  to: z.number().optional(),
  firstDay: z.string().optional(),
  lastDay: z.string().optional(),
});

export const recordSchema = z.object({
  format: z.literal(1),
  /** The time that the run is for, and a count where there are several: `20260504T011500Z-2`. Sorts by time. */
  id: z.string(),
  job: z.string(),
  file: z.string(),
  digest: z.string(),
  network: z.string(),
  warehouse: z.string(),
  pipelines: z.array(z.string()),
  zone: z.string(),
  trigger: z.enum(['manual', 'schedule', 'catch-up']),
  /** ISO 8601, UTC, of the time that the run is for. */
  due: z.string(),
  /** ISO 8601, UTC, of the moment that days are counted from and that reports tell: the same for every attempt. */
  now: z.string().optional(),
  state: stateSchema,
  range: rangeSchema.optional(),
  /** When each process that worked on the run began, and when it ended if it could tell. */
  attempts: z.array(
    z.object({
      startedAt: z.string(),
      endedAt: z.string().optional(),
      owner: z.object({
        pid: z.number(),
        startedAt: z.string(),
        host: z.string(),
        bootId: z.string().optional(),
        pidNamespace: z.string().optional(),
      }),
    }),
  ),
  /** Steps of the last attempt. */
  steps: z.array(stepSchema),
  outputs: z.array(outputSchema),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

/** One run of a job, with what every step of it did. */
export type JobRecord = Readonly<z.output<typeof recordSchema>>;
export type JobState = z.output<typeof stateSchema>;
export type StepResult = Readonly<z.output<typeof stepSchema>>;
export type StagedOutput = Readonly<z.output<typeof outputSchema>>;

/** Whether a run with this state will be worked on no more. */
export function isOver(state: JobState): boolean {
  return state !== 'running' && state !== 'publishing' && state !== 'interrupted';
}

/** Whether a run was for blocks that came since the last one, and none had come. */
export function hasNothingNew({ pipelines, range }: Pick<JobRecord, 'pipelines' | 'range'>): boolean {
  return pipelines.length > 0 && range !== undefined && range.blocks === undefined;
}

/** `20260504T011500Z`: the time that a run is for, as its identifier begins. */
export function dueId(due: number): string {
  return new Date(due).toISOString().replace(/[-:]|\.\d+/g, '');
}
