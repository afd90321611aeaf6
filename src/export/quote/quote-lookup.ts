import type { Span } from '../../core/span.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { LookupWalk } from '../../declare/walk.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import { boundOf } from '../lookup-keys.ts';
import { pathOf } from '../page-request.ts';
import { NOTHING } from './measure-pages.ts';
import { HISTORY_DOUBT, hasNeeds, type Quote, type Quoting } from './quote.ts';

/** Estimates a lookup: counts its keys in SQL, because they may not fit in memory. */
export async function quoteLookup(quoting: Quoting<PipelineOf<LookupWalk>>, missing: readonly Span[]): Promise<Quote> {
  const { context, reader } = quoting;
  const path = pathOf(context.pipeline);
  const exactly = { isSampled: false, measured: NOTHING };
  if (reader === undefined || !hasNeeds(quoting, missing)) {
    return { ...exactly, rows: 0, requests: { [path]: 1 }, band: 0, basis: 'least' };
  }
  const { query, keys, batch, limit } = context.pipeline.walk;
  const select = `SELECT count(*) FROM (SELECT DISTINCT ${keys.map(quoteName).join(', ')} FROM (${query}))`;
  let rows = 0;
  for (const span of missing) rows += Number((await reader.query(select, boundOf(query, span))).rows[0]?.[0] ?? 0);
  const batches = Math.ceil(rows / batch);
  const band = Math.ceil(limit === undefined ? 1 : batches * HISTORY_DOUBT + 1);
  return { ...exactly, rows, requests: batches === 0 ? {} : { [path]: batches }, band, basis: 'keys' };
}
