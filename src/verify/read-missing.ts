import { requireKnown } from '../core/did-you-mean.ts';
import { StoreError, UsageError } from '../core/errors.ts';
import { counted } from '../core/format.ts';
import { intersectSpans, type Span, shortSpans, totalSize } from '../core/span.ts';
import { coversBlocks } from '../declare/pipeline.ts';
import {
  coverage,
  describeParts,
  type LeftOutGap,
  type MissingWhy,
  type Part,
  readContents,
  spansIn,
} from '../warehouse/query/coverage.ts';
import { allLeftOut, describeLeftOut } from '../warehouse/query/left-out-gaps.ts';
import { openWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { resolveStored, storedChain } from './limit-range.ts';

export interface MissingOptions {
  readonly warehouse: string;
  /** Blocks or days, as for `verify`: open ends and days are those of the warehouse. */
  readonly range: string;
  /** Default: every pipeline of blocks that the warehouse has. */
  readonly pipelines?: readonly string[] | undefined;
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
}

/** Missing blocks of a range, by the ledger alone. */
export interface MissingReport {
  readonly network: string;
  readonly warehouse: string;
  readonly range: string;
  readonly asked: readonly Span[];
  /** Missing blocks, and why, by pipeline. */
  readonly missing: Readonly<Record<string, readonly Part<MissingWhy>[]>>;
  /** Days of the range of which the warehouse has only a part. */
  readonly partDays: readonly string[];
  /** Tables and columns that a selection left out in blocks of the range. */
  readonly leftOut: readonly LeftOutGap[];
  /** True if no block is missing, and no part of a day. */
  readonly complete: boolean;
}

/**
 * Finds the missing blocks of a range, without reading rows or network access.
 *
 * @throws {UsageError} for an unknown pipeline, or a malformed range
 * @throws {StoreError} `incomplete` if the warehouse has nothing of a day or time at an end of the range
 */
export async function readMissing({
  warehouse,
  range,
  pipelines = [],
  network,
}: MissingOptions): Promise<MissingReport> {
  const { registry, reader } = await openWarehouse(warehouse, { network });
  try {
    const known = registry.pipelines.filter(coversBlocks).map(({ name }) => name);
    for (const name of pipelines) requireKnown('a pipeline of blocks', name, known, 'unknown-pipeline');
    const contents = await readContents(reader, registry);
    const { ledger: entries } = contents;
    const chain = await storedChain(reader, registry);
    const { asked, broken } = await resolveStored(chain, range).catch((error: unknown) => {
      throw asIncomplete(error, reader.path);
    });
    const exported = known.filter((name) => entries.some(({ pipeline }) => pipeline === name));
    const wanted = pipelines.length > 0 ? pipelines : exported;
    const missing = Object.fromEntries(
      wanted.flatMap((name) => {
        const { missing } = coverage(contents, registry.pipeline(name), asked);
        return missing.length === 0 ? [] : [[name, missing] as const];
      }),
    );
    const tables = wanted.flatMap((name) => registry.pipeline(name).tables.map((table) => table.name));
    const leftOut = allLeftOut(entries, registry, tables)
      .map((gap) => ({ ...gap, missing: intersectSpans(gap.missing, asked) }))
      .filter((gap) => gap.missing.length > 0);
    const complete = Object.keys(missing).length === 0 && broken.size === 0;
    return {
      ...{ network: reader.network, warehouse: reader.path, range, asked },
      ...{ missing, partDays: [...broken.keys()].sort(), leftOut, complete },
    };
  } finally {
    await reader.close();
  }
}

/** A day that the warehouse lacks makes the range incomplete; it is not a usage error here. */
function asIncomplete(error: unknown, path: string): unknown {
  if (!(error instanceof UsageError) || error.code !== 'not-stored') return error;
  return new StoreError(`store: ${error.problem} (${path})`, { code: 'incomplete', hint: error.hint, cause: error });
}

/** The report as text, a line for each pipeline, day and table. */
export function formatMissing({ range, asked, missing, partDays, leftOut, complete }: MissingReport): string {
  const blocks = `${range}: ${counted(totalSize(asked), 'block')} (${shortSpans(asked)})`;
  const narrow = leftOut.map(describeLeftOut);
  if (complete)
    return [`${blocks}, ${leftOut.length === 0 ? 'nothing' : 'no block'} is missing`, ...narrow, ''].join('\n');
  const lines = Object.entries(missing).map(
    ([name, parts]) => `${name}: ${counted(totalSize(spansIn(parts)), 'block')} missing: ${describeParts(parts)}`,
  );
  return [blocks, ...lines, ...partDays.map((date) => `${date}: half a day`), ...narrow, ''].join('\n');
}
