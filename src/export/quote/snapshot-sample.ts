import type { PipelineDef } from '../../declare/pipeline.ts';
import type { SnapshotWalk } from '../../declare/walk.ts';
import { exactly, type Figure } from './figure.ts';
import { type ListLength, type ListSample, pathOf, readPage, type Sampling } from './list-sample.ts';

/** Rows of a list that changes: where it ends is found by halving. */
export async function sampleSnapshot(
  sampling: Sampling,
  pipeline: PipelineDef,
  { limit, most, parents }: SnapshotWalk,
  countParents: () => Promise<Figure>,
): Promise<ListSample> {
  const length = await lengthOf(sampling, pipeline, limit);
  const pages = [length.first];
  const rows = Math.min(most ?? Number.MAX_SAFE_INTEGER, length.rows);
  const whole = most === undefined ? Math.floor(rows / limit) + 1 : Math.ceil(Math.min(rows + 1, most) / limit);
  const infos = exactly(most === undefined && parents === undefined ? 3 : 2);
  if (parents === undefined) {
    return {
      rows,
      pages,
      requests: new Map([
        [pathOf(pipeline), { value: whole, band: 2 }],
        ['/masterchainInfo', infos],
      ]),
    };
  }
  const lists = await countParents();
  // Each list ends with a page that is not full; what is more than a page stands in one list or in several.
  const extra = Math.floor(rows / limit);
  const orphans = parents.hasOrphans === true ? whole : 0;
  const value = lists.value + extra / 2 + orphans;
  const requests = new Map<string, Figure>([
    [pathOf(pipeline), { value, band: lists.band + extra / 2 + 2 }],
    ['/masterchainInfo', exactly(parents.hasOrphans === true ? 3 : 2)],
  ]);
  return { rows, requests, pages };
}

/** Where a list without a filter ends; looked for once. */
export function lengthOf(sampling: Sampling, pipeline: PipelineDef, limit: number): Promise<ListLength> {
  const { lengths } = sampling;
  const length = lengths.get(pipeline.name) ?? findLength(sampling, pipeline, limit);
  lengths.set(pipeline.name, length);
  return length;
}

async function findLength(sampling: Sampling, pipeline: PipelineDef, limit: number): Promise<ListLength> {
  const at = (page: number) =>
    readPage(sampling, pipeline, [
      ['limit', String(limit)],
      ...(page === 0 ? [] : [['offset', String(page * limit)] as const]),
    ]);
  const first = await at(0);
  if (first.records < limit) return { rows: first.records, first: first.body };
  let [full, short] = [0, 1];
  let rows = (await at(short)).records;
  while (rows >= limit) {
    full = short;
    short *= 4;
    rows = (await at(short)).records;
  }
  while (short - full > 1) {
    const middle = (full + short) >> 1;
    const { records } = await at(middle);
    if (records >= limit) full = middle;
    else {
      short = middle;
      rows = records;
    }
  }
  return { rows: short * limit + rows, first: first.body };
}
