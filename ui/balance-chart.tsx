import { useMemo } from 'preact/hooks';
import { counted, formatCount } from '../src/core/format.ts';
import type { BalanceHistory } from '../src/ui/ui-types.ts';
import { Failed } from './notes.tsx';
import { Plot } from './plot.tsx';
import { useRequest } from './use-request.ts';

const CHOICE = { mark: 'line', x: 'time', y: ['TON'], color: '', xType: 'TIMESTAMP', curve: 'step-after' } as const;

/** The balance of an account after each of its transactions. */
export function BalanceChart({ account }: { readonly account: string }) {
  const { value, error } = useRequest<BalanceHistory | null>(
    `/api/explore/balances?${new URLSearchParams({ q: account })}`,
  );
  const rows = useMemo(() => (value?.points ?? []).map(({ time, ton }) => [time, ton]), [value]);
  if (error !== undefined) return <Failed error={error} />;
  const last = value?.points.at(-1);
  if (value === undefined || value === null || last === undefined) return null;
  return (
    <section class="balances">
      <h2>Balance</h2>
      <p class="soft">
        <b class="figure">{last.ton} TON</b> after the last of {counted(value.count, 'state')} in{' '}
        <a href={`/tables/${encodeURIComponent(value.table)}`}>{value.table}</a>, {last.time.slice(0, 19)} UTC
        {value.points.length < value.count && `; the chart has ${formatCount(value.points.length)} of them`}
      </p>
      {value.points.length > 1 && <Plot rows={rows} choice={CHOICE} label="Balance over time, in TON" />}
    </section>
  );
}
