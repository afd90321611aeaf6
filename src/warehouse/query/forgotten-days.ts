import { quoteText } from '../../sql/canonical-text.ts';
import type { ForgottenSpans } from '../ledger/forgotten-spans.ts';

/** What checks can read beside tables and marts: a row for each pipeline and UTC day of which rows were removed. */
export const FORGOTTEN_DAYS = '_forgotten_days';

/** SQL of those rows. */
export function forgottenDays(forgotten: readonly ForgottenSpans[]): string {
  const periods = forgotten.flatMap(({ pipeline, days }) => (days === undefined ? [] : [{ pipeline, ...days }]));
  const list = quoteText(JSON.stringify(periods));
  const structure = quoteText(JSON.stringify([{ pipeline: 'VARCHAR', from: 'VARCHAR', to: 'VARCHAR' }]));
  return `SELECT DISTINCT p.pipeline, unnest(generate_series(p."from"::DATE, p."to"::DATE, INTERVAL 1 DAY))::DATE AS block_date
    FROM (SELECT unnest(from_json(${list}, ${structure})) AS p)`;
}
