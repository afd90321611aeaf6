import { useMemo } from 'preact/hooks';
import type { Activity } from '../src/ui/ui-types.ts';
import { Failed } from './notes.tsx';
import { Plot } from './plot.tsx';
import { useRequest } from './use-request.ts';

const CHOICE = { mark: 'line', x: '', y: [''], color: '', xType: 'TIMESTAMP', isSmall: true } as const;

/** Transactions and fees over time, refreshed once a minute, not with each commit. */
export function ActivityCharts({ now }: { readonly now: number }) {
  const { value, error } = useRequest<Activity | null>('/api/activity', { version: Math.floor(now / 60_000) });
  const charts = useMemo(() => chartsOf(value), [value]);
  if (error !== undefined) return <Failed error={error} />;
  return (
    <section class="activity">
      {charts.map(({ title, rows }) => (
        <figure key={title}>
          <figcaption>
            <h2>{title}</h2>
          </figcaption>
          <Plot rows={rows} choice={CHOICE} label={title} />
        </figure>
      ))}
    </section>
  );
}

function chartsOf(activity: Activity | null | undefined) {
  if (activity === null || activity === undefined) return [];
  const { unit, fees, points } = activity;
  const transactions = {
    title: `Transactions per ${unit}`,
    rows: points.map(([time = null, count = null]) => [time, count]),
  };
  if (fees === null) return [transactions];
  const rows = points.map(([time = null, , ton = null]) => [time, ton]);
  return [transactions, { title: `Fees per ${unit}, in TON`, rows }];
}
