import { sha256Of } from '../core/sha256.ts';
import type { DeliveryTarget } from '../jobs/delivery-target.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { jsonRows, textOf } from '../sql/row-text.ts';
import type { Alert } from './alert.ts';
import { messageOf } from './alert-message.ts';
import { alertRows } from './alert-rows.ts';
import { nextStep } from './consume.ts';
import { Feed, type FeedBody } from './feed.ts';

/** Target size of a batch. */
const BATCH_ROWS = 10_000;

/** Sends an alert to a target for each new row of the select. */
export function alertFeed(warehouse: string, alert: Alert, target: DeliveryTarget): Feed {
  const markup = alert.escape ?? (target.notice.kind === 'webhook' ? 'html' : 'none');
  return new Feed(
    warehouse,
    {
      name: `alert ${alert.name} to`,
      file: `alert-${alert.name}`,
      followed: [alert.followed],
      digest: sha256Of(JSON.stringify([alert.select, alert.key]), 32),
      next: async (view, { cursor, before }) => {
        const step = await nextStep(view, [alert.followed], cursor, BATCH_ROWS, (rows) =>
          alertRows(view, alert, rows, before),
        );
        return { bodies: step.read && bodiesOf(alert, markup, step.read, view.network), cursor: step.cursor };
      },
    },
    target,
  );
}

/** One alert per key among the rows of a result. */
function bodiesOf(
  { name: alert, key, message }: Alert,
  markup: NonNullable<Alert['escape']>,
  { columns, rows }: QueryResult,
  network: string,
): readonly FeedBody[] {
  const bodies = new Map<string, FeedBody>();
  for (const row of rows) {
    const values = new Map(columns.map((column, at) => [column.name, textOf(row[at])]));
    const id = sha256Of(JSON.stringify([alert, ...key.map((column) => values.get(column) ?? null)]), 32);
    if (bodies.has(id)) continue;
    const head = JSON.stringify({ text: messageOf(message, markup, values), event: 'alert', alert, id, network });
    const json = [...jsonRows({ columns, rows: [row] })].join('');
    const text = (isRepeated: boolean) => `${head.slice(0, -1)}${isRepeated ? ',"again":true' : ''},"row":${json}}\n`;
    bodies.set(id, { id, text });
  }
  return [...bodies.values()];
}
