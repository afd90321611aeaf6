import { usage } from '../core/errors.ts';
import { addDays, dateAt, dayStart } from '../core/time-zone.ts';
import { firstNumber } from '../sql/first-number.ts';
import type { DamagedStore } from '../warehouse/index.ts';
import { type ForgetOptions, type ForgetReport, forgetPlanned } from './forget.ts';
import { headersOf } from './limit-range.ts';
import { planRetention, type RetentionPlan } from './plan-retention.ts';

export interface RetentionOptions extends Omit<ForgetOptions, 'range'> {
  /** Number of whole days to keep, counted back from `now`; at least 1. */
  readonly keepDays: number;
  /** Milliseconds since 1970. If the newest block is older, its time is used, so that a wrong clock cannot empty a warehouse. */
  readonly now: number;
  /** First masterchain block that is kept regardless of its age; undefined for none. */
  readonly keepFrom?: number | undefined;
}

/** The removal of a retention, or in a dry run the plan. */
export interface RetentionReport extends ForgetReport, Pick<RetentionPlan, 'retained' | 'withoutBlocks'> {
  /** First UTC day that is kept; undefined if the warehouse has no headers. */
  readonly firstDay: string | undefined;
  /** Last masterchain block that was old enough; undefined if there is none. */
  readonly upTo: number | undefined;
}

/**
 * Removes old rows by whole UTC days, all pipelines in one commit, like `forgetRange`. Lists by logical time are removed by whole entries: one
 * that also has newer rows is kept. Rows that others need are kept, too.
 *
 * @throws {UsageError}
 * @throws {StoreError} as `forgetRange`
 */
export async function forgetOld(options: RetentionOptions): Promise<RetentionReport> {
  const { keepDays, now, keepFrom, pipelines: names } = options;
  if (!Number.isInteger(keepDays) || keepDays < 1) {
    throw usage('at least one day to keep', keepDays);
  }
  let found: Pick<RetentionReport, 'firstDay' | 'upTo' | 'retained' | 'withoutBlocks'> | undefined;
  const report = await forgetPlanned(options, 'retention', async ({ warehouse, lost, registry, marts }) => {
    const headers = headersOf(warehouse, registry);
    const newest = await numberOf(warehouse, `SELECT max(gen_utime) FROM ${headers} WHERE workchain = -1`);
    const firstDay = newest === undefined ? undefined : firstRetainedDay(keepDays, Math.min(now, newest * 1000));
    const last =
      firstDay === undefined ? undefined : await lastBefore(warehouse, headers, dayStart(firstDay, 'UTC') / 1000);
    const upTo = last === undefined || keepFrom === undefined ? last : Math.min(last, keepFrom - 1);
    const plan = planRetention({ ledger: warehouse.entries, lost, registry, marts, names, upTo });
    const { retained, withoutBlocks } = plan;
    found = { firstDay, upTo, retained, withoutBlocks };
    return plan;
  });
  return { ...report, firstDay: undefined, upTo: undefined, retained: [], withoutBlocks: [], ...found };
}

/** The first UTC day to keep: the day of the moment `keepDays` days before `now`. */
export function firstRetainedDay(keepDays: number, now: number): string {
  return addDays(dateAt(now, 'UTC'), -keepDays);
}

/** The last masterchain block before a time in seconds, among the headers in the warehouse. */
function lastBefore(warehouse: DamagedStore, headers: string, seconds: number): Promise<number | undefined> {
  return numberOf(warehouse, `SELECT max(seqno) FROM ${headers} WHERE workchain = -1 AND gen_utime < ${seconds}`);
}

function numberOf({ database }: DamagedStore, sql: string): Promise<number | undefined> {
  return firstNumber((statement) => database.query(statement), sql);
}
