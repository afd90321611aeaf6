import * as z from 'zod';
import type { FaultKind } from '../audit/list-faults.ts';
import { parseAnswer } from '../chain/index-ends.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { fixedGiven, fixedQuery, PAGE_ROWS } from './page-request.ts';
import type { PageReport } from './span-loader.ts';
import type { WalkContext } from './walk-context.ts';
import type { WalkRequest } from './walk-request.ts';

/** Something that transactions say of a list, and the list does not. */
export interface Fault {
  readonly seqno: number;
  /** What the list can be asked by: a trace, a message, an account. */
  readonly item: string;
  readonly lt: bigint | undefined;
  readonly kind: FaultKind;
  readonly reason: string;
}

/** Accounts of one request: what fits a request line everywhere. */
const ACCOUNTS = 100;

/** One page of some things that are asked for by themselves. */
export interface ItemRequest extends WalkRequest {
  readonly items: readonly string[];
  readonly window: readonly (readonly [string, string])[];
  readonly offset: number;
}

/** Asks a list for what is missing in it by itself: by id, or by the accounts that it is about. */
export function itemRequests(context: WalkContext, faults: readonly Fault[]): readonly ItemRequest[] {
  const { batch } = waysOf(context.pipeline);
  const items = [...new Set(faults.map(({ item }) => item))].sort();
  const window = windowOf(faults);
  const requests: ItemRequest[] = [];
  for (let at = 0; at < items.length; at += batch) {
    requests.push(itemRequest(context, items.slice(at, at + batch), window, 0));
  }
  return requests;
}

/** The page after a full one. */
export function nextItems(
  context: WalkContext,
  { items, window, offset }: ItemRequest,
  page: PageReport,
): readonly ItemRequest[] {
  return page.records < PAGE_ROWS ? [] : [itemRequest(context, items, window, offset + PAGE_ROWS)];
}

/** Which of some accounts the index lists as verified. */
export async function fetchVerified(
  { source, pipeline, report }: WalkContext,
  accounts: readonly string[],
): Promise<ReadonlySet<string>> {
  const verified = new Set<string>();
  const { crossCheck } = pipeline;
  if (crossCheck?.kind !== 'orders' || accounts.length === 0) return verified;
  const way = crossCheck.contracts;
  report({ event: 'planned', pipeline: pipeline.name, requests: Math.ceil(accounts.length / ACCOUNTS) });
  const answers = z.record(z.string(), z.unknown());
  const listed = z.array(z.object({ address: z.string() }));
  for (let at = 0; at < accounts.length; at += ACCOUNTS) {
    const some = accounts.slice(at, at + ACCOUNTS).map((account) => ['address', account] as const);
    const query = [...some, ['limit', String(PAGE_ROWS)] as const];
    const label = `${pipeline.name} by ${way.list}`;
    const rows = await source.fetch({ path: way.path, query, label }, (answer) =>
      listed.parse(parseAnswer(answers, answer)[way.list] ?? []),
    );
    for (const { address } of rows) verified.add(address.toUpperCase());
  }
  return verified;
}

/** How a list is asked for single things; `isByAccount`: for what accounts received. */
function waysOf({ walk, crossCheck }: PipelineDef): {
  readonly parameter: string;
  readonly batch: number;
  readonly isByAccount: boolean;
} {
  const ties = walk.kind === 'lt' && walk.ties.kind === 'content' ? walk.ties.parameter : '';
  if (crossCheck === undefined || crossCheck.kind === 'orders') {
    return { parameter: ties, batch: ACCOUNTS, isByAccount: true };
  }
  return { ...crossCheck.items, isByAccount: false };
}

/** Of accounts only the rows of these logical times are wanted; ids are enough for themselves. */
function windowOf(faults: readonly Fault[]): readonly (readonly [string, string])[] {
  const lts = faults.flatMap(({ lt }) => lt ?? []);
  const [first] = lts;
  if (first === undefined) return [];
  const least = lts.reduce((a, b) => (b < a ? b : a), first);
  const most = lts.reduce((a, b) => (b > a ? b : a), first);
  return [
    ['start_lt', String(least)],
    ['end_lt', String(most)],
  ];
}

function itemRequest(
  { pipeline }: WalkContext,
  items: readonly string[],
  window: readonly (readonly [string, string])[],
  offset: number,
): ItemRequest {
  const { parameter, isByAccount } = waysOf(pipeline);
  const skip = offset === 0 ? [] : [['offset', String(offset)] as const];
  return {
    ...{ items, window, offset },
    ask: {
      path: pipeline.endpoint.replace(/^GET /, ''),
      query: [
        ...items.map((item) => [parameter, item] as const),
        ...(isByAccount ? window : []),
        ...[['limit', String(PAGE_ROWS)] as const, ...skip],
        ...fixedQuery(pipeline),
      ],
      label: `${pipeline.name} by ${parameter}`,
    },
    page: { given: fixedGiven(pipeline), isSupplement: true },
  };
}
