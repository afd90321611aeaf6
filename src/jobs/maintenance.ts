import { JobError } from '../core/errors.ts';
import { counted, formatCount } from '../core/format.ts';
import { formatSpans } from '../core/span.ts';
import { suggest } from '../core/suggest.ts';
import { publishFlags } from '../iceberg/publish-flags.ts';
import { type Finding, formatFinding } from '../verify/finding.ts';
import type { VerifyReport } from '../verify/verify.ts';
import { type ProvenLedger, warehousePath } from '../warehouse/index.ts';
import { nameSome } from '../warehouse/query/left-out-gaps.ts';
import type { Job } from './job.ts';
import { runStep, type StepContext } from './job-step.ts';
import { describeUnproven } from './job-steps.ts';
import type { JobRecord } from './run-record.ts';

/**
 * Verifies the warehouse, so that nothing is built or published from damaged rows. Skips what an earlier run of the same job has verified,
 * unless the job verifies all.
 * @param records of earlier runs
 * @throws {JobError} `not-proven` if there is damage that was not repaired
 */
export async function verifyRows(context: StepContext, records: readonly JobRecord[]): Promise<void> {
  const { job, actions, effects, stop } = context;
  if (job.verify === undefined) return;
  const { all, deep, repair } = job.verify;
  const since = all ? undefined : lastVerified(job, records);
  const findings: Finding[] = [];
  const repaired: string[] = [];
  const work = async (): Promise<VerifyReport> => {
    const { network, warehouse, rps } = job;
    const outcome = await actions.verify({
      warehouse,
      network,
      since,
      deep,
      repair,
      rps,
      effects,
      signal: stop,
      onEvent: (event) => {
        if (event.event === 'finding') findings.push(event);
        if (event.event === 'repaired') repaired.push(`${event.pipeline} ${formatSpans([event.span])}`);
      },
    });
    // A stopped repair reports the remaining damage.
    if (!outcome.proven && !stop.aborted)
      throw notProven(job.name, warehouse, outcome, repaired.length === 0 ? findings[0] : undefined);
    return outcome;
  };
  await runStep(
    context,
    { kind: 'verify', name: since === undefined ? 'all' : `since entry ${since.entry}` },
    async () => {
      const { entry, ledger, proven, findings: count, files, requests, unproven } = await work();
      const state = proven ? `${formatCount(files)} files proven` : `interrupted: ${counted(count, 'finding')}`;
      const repairs = repaired.length === 0 ? [] : [`repaired ${nameSome(repaired)}`];
      const message = [state, ...repairs, describeUnproven({ unproven }) ?? []].flat().join('; ');
      return {
        value: undefined,
        message,
        ...(proven ? { entry, ledger } : {}),
        ...(requests === undefined ? {} : { requests }),
      };
    },
  );
}

/** The ledger when the same job last verified the warehouse; undefined if it never did. */
function lastVerified({ digest, warehouse }: Job, records: readonly JobRecord[]): ProvenLedger | undefined {
  const path = warehousePath(warehouse);
  const own = records.filter((each) => each.digest === digest && each.warehouse === path);
  const proven = own.flatMap(({ steps }) => steps).findLast(({ entry = 0 }) => entry > 0);
  return proven?.entry === undefined ? undefined : { entry: proven.entry, digest: proven.ledger ?? '' };
}

function notProven(job: string, warehouse: string, { findings }: VerifyReport, first: Finding | undefined): JobError {
  const example = first === undefined ? '' : `, for example: ${formatFinding(first)}`;
  const got = `${counted(findings, 'finding')}${example}`;
  return new JobError(`job ${job}: expected a proven warehouse, got ${got}; nothing was published`, {
    code: 'not-proven',
    hint: suggest('verify', '--repair', { warehouse }),
  });
}

/** Merges small files if the job says so. */
export async function compactFiles(context: StepContext): Promise<void> {
  const { job, actions, effects, stop } = context;
  const { network, warehouse } = job;
  if (!job.compact) return;
  await runStep(context, { kind: 'compact', name: 'all' }, async () => {
    const { kind, merged, files } = await actions.compact({ warehouse, network, effects, stop });
    const change = `${formatCount(files.before)} -> ${formatCount(files.after)} files`;
    if (kind === 'duckdb')
      return { value: undefined, message: 'nothing to merge: a DuckDB warehouse is a single file' };
    return { value: undefined, message: merged === 0 ? 'nothing to merge' : change };
  });
}

/**
 * Publishes the tables and marts as Iceberg tables if the job says so.
 * @throws {JobError} if a table could not be published
 */
export async function publishIceberg(context: StepContext): Promise<void> {
  const { job, actions, effects, stop, onStep } = context;
  const { network, warehouse } = job;
  const { iceberg } = job;
  if (iceberg === undefined) return;
  const step = { kind: 'iceberg', name: 'all' } as const;
  if (stop.aborted) return onStep({ ...step, status: 'skipped', seconds: 0, message: 'left to the next run' });
  await runStep(context, step, async () => {
    const { entry, tables, published, skipped } = await actions.publishIceberg({
      ...iceberg,
      warehouse,
      network,
      effects,
    });
    if (skipped.length > 0) throw notPublished(job, skipped);
    const place =
      iceberg.catalog === undefined ? '' : ` in ${iceberg.catalog.uri} namespace ${iceberg.catalog.namespace}`;
    const message = `${formatCount(tables)} tables at entry-${entry}, ${formatCount(published)} of them new${place}`;
    return { value: undefined, message };
  });
}

function notPublished({ name, warehouse, iceberg }: Job, skipped: readonly string[]): JobError {
  const flags = { warehouse, ...publishFlags(iceberg?.location, iceberg?.catalog) };
  return new JobError(`job ${name}: expected all tables to be published, but skipped ${nameSome(skipped)}`, {
    hint: `${suggest('publish iceberg', '', flags)} shows the reasons`,
  });
}
