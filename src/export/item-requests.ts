import * as z from 'zod';
import type { FaultKind } from '../audit/list-faults.ts';
import { WRONG_ROWS } from '../audit/page-audit.ts';
import { parseResponse } from '../chain/index-head.ts';
import { AuditError } from '../core/errors.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { SourceResponse } from '../http/request.ts';
import { boundsOf, fixedGiven, PAGE_ROWS, type Parameters, pageOf } from './page-request.ts';
import type { WalkContext } from './walk-context.ts';
import type { WalkRequest } from './walk-request.ts';

/** A contradiction between transactions and a list. */
export interface Fault {
  readonly seqno: number;
  /** Trace, message or account to request the list by. */
  readonly item: string;
  readonly lt: bigint | undefined;
  readonly kind: FaultKind;
  readonly reason: string;
}

/** Accounts per request: their request line fits every server. */
export const ACCOUNTS = 100;

/** Requests for records that a list lacks: by id, or by account. */
export function itemRequests(context: WalkContext, faults: readonly Fault[]): readonly WalkRequest[] {
  const { pipeline } = context;
  const { parameter, column, batch, isByAccount } = waysOf(pipeline);
  const items = [...new Set(faults.map(({ item }) => item))].sort();
  const window = isByAccount ? windowOf(faults) : [];
  return inBatches(items, batch).map((some) =>
    pageOf(pipeline, {
      where: [...some.map((item) => [parameter, item] as const), ...window],
      limit: PAGE_ROWS,
      label: `${pipeline.name} by ${parameter}`,
      list: [...some, ...window].join(),
      page: {
        given: fixedGiven(pipeline),
        isSupplement: true,
        only: [{ kind: 'keys', columns: [column], values: some }],
      },
    }),
  );
}

export function inBatches<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}

/** Of some accounts, those that the index lists as verified. */
export async function fetchVerified(
  { source, pipeline, report }: WalkContext,
  accounts: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const verified = new Set<string>();
  const { crossCheck } = pipeline;
  if (crossCheck?.kind !== 'orders' || accounts.length === 0) return verified;
  const way = crossCheck.contracts;
  const batches = inBatches(accounts, ACCOUNTS);
  report({ event: 'planned', pipeline: pipeline.name, requests: batches.length });
  const responses = z.record(z.string(), z.unknown());
  const listed = z.array(z.object({ address: z.string() }));
  for (const batch of batches) {
    const query = [...batch.map((account) => ['address', account] as const), ['limit', String(PAGE_ROWS)] as const];
    const label = `${pipeline.name} by ${way.list}`;
    const accept = (response: SourceResponse): z.infer<typeof listed> => {
      const found = listed.parse(parseResponse(responses, response)[way.list] ?? []);
      const stranger = found.find(({ address }) => !batch.includes(address.toUpperCase()));
      if (stranger === undefined) return found;
      const message = `audit ${label}: expected contracts that were requested, got ${stranger.address}`;
      throw new AuditError(message, { code: WRONG_ROWS, retryable: true });
    };
    const rows = await source.fetch({ path: way.path, query, label }, accept, { signal });
    for (const { address } of rows) verified.add(address.toUpperCase());
  }
  return verified;
}

/** How to request single records of a list. */
function waysOf({ walk, crossCheck }: PipelineDef): {
  readonly parameter: string;
  /** Column of the main table with the values of the parameter. */
  readonly column: string;
  readonly batch: number;
  readonly isByAccount: boolean;
} {
  const ties = walk.kind === 'lt' && walk.ties.kind === 'content' ? walk.ties.parameter : '';
  if (crossCheck === undefined || crossCheck.kind === 'orders') {
    return { parameter: ties, column: crossCheck?.account ?? ties, batch: ACCOUNTS, isByAccount: true };
  }
  const { parameter, batch } = crossCheck.items;
  return { parameter, column: parameter, batch, isByAccount: false };
}

/** The logical times of the faults, for requests by account. */
function windowOf(faults: readonly Fault[]): Parameters {
  const lts = faults.flatMap(({ lt }) => lt ?? []);
  const [first] = lts;
  if (first === undefined) return [];
  const from = lts.reduce((a, b) => (b < a ? b : a), first);
  const to = lts.reduce((a, b) => (b > a ? b : a), first);
  return boundsOf({ from, to });
}
