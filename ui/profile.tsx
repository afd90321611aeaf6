import { useState } from 'preact/hooks';
import { formatCount } from '../src/core/format.ts';
import type { ColumnProfile } from '../src/ui/ui-types.ts';
import { useRequest } from './use-request.ts';

/** Statistics of a column, read on a click. */
export function ProfileButton({ table, column }: { readonly table: string; readonly column: string }) {
  const [isRequested, setRequested] = useState(false);
  const path = `/api/tables/${encodeURIComponent(table)}/columns/${encodeURIComponent(column)}/profile`;
  const { value: profile, error } = useRequest<ColumnProfile>(isRequested ? path : undefined);
  if (error !== undefined) return <span class="soft">{error.message}</span>;
  if (profile !== undefined) return <Profile profile={profile} />;
  return (
    <button
      type="button"
      class="plain"
      disabled={isRequested}
      onClick={() => setRequested(true)}
      aria-label={`Profile ${column}`}
    >
      {isRequested ? 'reading…' : 'profile'}
    </button>
  );
}

function Profile({ profile }: { readonly profile: ColumnProfile }) {
  const { rows, nulls, distinct, least, most, bars } = profile;
  const highest = Math.max(1, ...bars.map(({ count }) => count));
  const isNamed = bars.some(({ label }) => label !== '');
  const share = rows === 0 ? 0 : (100 * nulls) / rows;
  return (
    <div class="profile-box">
      <p>
        {formatCount(distinct)} distinct{nulls > 0 && `, ${share < 0.1 ? '<0.1' : share.toFixed(1)} % null`}
      </p>
      {isNamed ? (
        <ul class="top-values">
          {bars.map(({ label, count }) => (
            <li key={label}>
              <span title={label}>{label}</span>
              <meter min={0} max={highest} value={count} aria-label={`${label}: ${formatCount(count)}`} />
              <span class="figure">{formatCount(count)}</span>
            </li>
          ))}
        </ul>
      ) : (
        bars.length > 0 && (
          <svg
            class="histogram"
            viewBox={`0 0 ${bars.length * 5} 26`}
            role="img"
            aria-label={`Histogram from ${least} to ${most}`}
          >
            {bars.map(({ count }, at) => (
              <rect key={at} x={at * 5} width={4} y={26 - (24 * count) / highest} height={(24 * count) / highest} />
            ))}
          </svg>
        )
      )}
      {least !== null && !isNamed && (
        <p class="ends">
          <span title={least}>{least}</span>
          <span title={most ?? ''}>{most}</span>
        </p>
      )}
    </div>
  );
}
