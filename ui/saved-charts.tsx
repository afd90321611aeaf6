import { useEffect, useState } from 'preact/hooks';
import type { RunResult, SavedQuery } from '../src/ui/ui-types.ts';
import { post } from './api.ts';
import { chartIn } from './chart-line.ts';
import { ChartOf } from './chart-view.tsx';
import type { ChartChoice } from './draw-chart.ts';
import { Failed, Gaps } from './notes.tsx';
import { queryLink } from './router.ts';
import { useRequest } from './use-request.ts';

/** Maximum number of charts; the server retains the rows of as many results. */
const MAX_CHARTS = 4;

/** Charts saved with queries of the project. */
export function SavedCharts() {
  const { value: saved = [] } = useRequest<readonly SavedQuery[]>('/api/saved');
  const drawn = saved.flatMap(({ name, sql }) => {
    const choice = chartIn(sql);
    return choice === undefined ? [] : [{ name, sql, choice }];
  });
  if (drawn.length === 0) return null;
  return (
    <section class="activity">
      {drawn.slice(0, MAX_CHARTS).map((each) => (
        <SavedChart key={each.name} {...each} />
      ))}
    </section>
  );
}

function SavedChart({ name, sql, choice }: SavedQuery & { readonly choice: ChartChoice }) {
  const [result, setResult] = useState<RunResult>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    const controller = new AbortController();
    post<RunResult>('/api/runs', { sql, params: {} }, controller.signal).then(setResult, (fault: Error) => {
      if (!controller.signal.aborted) setError(fault);
    });
    return () => controller.abort();
  }, [sql]);
  return (
    <figure>
      <figcaption>
        <h2>
          <a href={queryLink(sql)}>{name}</a>
        </h2>
      </figcaption>
      {error !== undefined && <Failed error={error} />}
      {result !== undefined && (
        <>
          <Gaps gaps={result.warnings} />
          <ChartOf result={result} choice={choice} label={name} />
        </>
      )}
    </figure>
  );
}
