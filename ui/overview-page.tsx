import { useEffect, useMemo, useState } from 'preact/hooks';
import { counted, formatBytes, formatCount, shortDays } from '../src/core/format.ts';
import type {
  Activity,
  Coverage,
  FillItem,
  Overview,
  PipelineItem,
  RunItem,
  RunResult,
  SavedQuery,
} from '../src/ui/ui-types.ts';
import { post } from './api.ts';
import { chartIn } from './chart-line.ts';
import { ChartOf } from './chart-view.tsx';
import { Command } from './copy-button.tsx';
import { Swatch } from './coverage-page.tsx';
import { DataTable, Facts } from './data-table.tsx';
import type { ChartChoice } from './draw-chart.ts';
import { Failed, Gaps } from './notes.tsx';
import { Plot } from './plot.tsx';
import { queryLink } from './router.ts';
import { Progress, RunState, runLink, runTimes } from './run-parts.tsx';
import { ago, useNow } from './times.ts';
import { useLive } from './use-live.ts';
import { useRequest } from './use-request.ts';

/** Parts of the strip of blocks beside a pipeline. */
const STRIP_CELLS = 40;

/** Contents and gaps of the warehouse, and its writer and jobs. */
export function OverviewPage() {
  const version = useLive('commit', 'runs');
  const { value: overview, error } = useRequest<Overview>('/api/overview', { version });
  const { value: coverage } = useRequest<Coverage>(`/api/coverage?cells=${STRIP_CELLS}`, { version });
  const now = useNow();
  if (error !== undefined) return <Failed error={error} />;
  if (overview === undefined) return <p class="soft">Reading the ledger…</p>;
  const { head, pipelines, writer, marts, runs } = overview;
  if (pipelines.length === 0) return <Empty command={overview.beginCommand} />;
  return (
    <div class="overview">
      <h1>Overview</h1>
      <Facts
        look="figures-row"
        facts={[
          ['blocks', formatCount(overview.blocks)],
          ['rows', formatCount(overview.rows)],
          ['size', overview.bytes === 0 ? null : formatBytes(overview.bytes)],
          ['missing blocks', lackOf(overview.missing) ?? '0'],
          ['records in quarantine', lackOf(overview.quarantinedRecords)],
          ['newest block', head === null ? null : <Newest {...head} now={now} />],
        ]}
      />
      {writer !== null && (
        <p class="note" role="status">
          <b>Being written</b> since {ago(writer.since, now)}
          {writer.isElsewhere && ' on another machine'}: <code>{writer.command}</code>
        </p>
      )}
      <Lacking fills={overview.fills} />
      <ActivityCharts now={now} />
      <SavedCharts />
      <Pipelines pipelines={pipelines} coverage={coverage} now={now} />
      {runs.length > 0 && <Runs runs={runs} failures={overview.failures} now={now} />}
      {marts.length > 0 && (
        <section>
          <h2>Marts</h2>
          <ul class="chips">
            {marts.map(({ name, rows, lacking, stale }) => (
              <li key={name}>
                <a href={`/tables/${encodeURIComponent(name)}`}>{name}</a>{' '}
                <span class="soft figure">{formatCount(rows)}</span>
                {lacking.length > 0 && (
                  <span class="state part" title={lacking.join(', ')}>
                    {' '}
                    missing in part: {shortDays(lacking)}
                  </span>
                )}
                {stale !== null && (
                  <span class="state part" title={stale}>
                    {' '}
                    stale
                  </span>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** A number that should be 0; null if it is. */
function lackOf(count: number) {
  return count === 0 ? null : <span class="is-bad">{formatCount(count)}</span>;
}

function Newest({ seqno, time, now }: NonNullable<Overview['head']> & { readonly now: number }) {
  return (
    <>
      {seqno} {time !== undefined && <small>{ago(time, now)}</small>}
    </>
  );
}

function Lacking({ fills }: { readonly fills: readonly FillItem[] }) {
  if (fills.length === 0) return null;
  return (
    <section class="note warn" aria-label="What is missing">
      {fills.map(({ pipelines, blocks, command }) => (
        <div key={command} class="lacking">
          <p>
            <b>{pipelines.join(', ')}</b> {pipelines.length === 1 ? 'lacks' : 'lack'} {counted(blocks, 'block')}
          </p>
          <Command text={command} />
        </div>
      ))}
    </section>
  );
}

interface PipelinesProps {
  readonly pipelines: readonly PipelineItem[];
  readonly coverage: Coverage | undefined;
  readonly now: number;
}

/** Pipelines of blocks; below them, collapsed, those of snapshots. */
function Pipelines({ pipelines, coverage, now }: PipelinesProps) {
  const strips = new Map(coverage?.pipelines.map(({ name, cells }) => [name, cells]));
  const ofBlocks = pipelines.filter(({ blocks, name }) => blocks > 0 || strips.has(name));
  const others = pipelines.filter((each) => !ofBlocks.includes(each));
  const table = (items: readonly PipelineItem[], title: string) => (
    <DataTable
      label={title}
      columns={['pipeline', 'state', ...(items === ofBlocks ? ['blocks'] : []), 'rows', 'size', 'last commit']}
      numbers={['rows', 'size']}
    >
      {items.map((each) => (
        <tr key={each.name}>
          <th scope="row">
            <a href="/coverage">{each.name}</a>
          </th>
          <td>
            <State item={each} />
          </td>
          {items === ofBlocks && (
            <td class="strip">
              <span class="figure">{formatCount(each.blocks)}</span>
              <span class="map-cells">
                {strips.get(each.name)?.map((cell) => (
                  <Swatch key={cell.from} cell={cell} />
                ))}
              </span>
            </td>
          )}
          <td class="number">{formatCount(each.rows)}</td>
          <td class="number">{each.bytes === 0 ? '' : formatBytes(each.bytes)}</td>
          <td class="soft when" title={each.lastCommit ?? ''}>
            {each.lastCommit === null ? 'never' : ago(each.lastCommit, now)}
          </td>
        </tr>
      ))}
    </DataTable>
  );
  return (
    <section>
      <h2>Pipelines</h2>
      {ofBlocks.length > 0 && table(ofBlocks, 'Pipelines')}
      {others.length > 0 && (
        <details open={ofBlocks.length === 0}>
          <summary>
            Lookups and lists of what is now <span class="soft">{others.length}</span>
          </summary>
          {table(others, 'Lookups')}
        </details>
      )}
    </section>
  );
}

function State({ item: { missing, quarantined, proof } }: { readonly item: PipelineItem }) {
  if (quarantined > 0) return <span class="state quarantined">quarantine</span>;
  if (missing > 0) return <span class="state part">missing in part</span>;
  if (proof === 'proven') return <span class="state proven">proven</span>;
  return <span class="state unproven">{proof === 'in part' ? 'unproven in part' : 'unproven'}</span>;
}

interface RunsProps {
  readonly runs: readonly RunItem[];
  readonly failures: readonly RunItem[];
  readonly now: number;
}

function Runs({ runs, failures, now }: RunsProps) {
  const lines = (shown: readonly RunItem[]) => (
    <ul class="runs">
      {shown.map((run) => (
        <RunLine key={`${run.job} ${run.id}`} run={run} now={now} />
      ))}
    </ul>
  );
  return (
    <section>
      <h2>
        <a href="/jobs">Jobs</a>
      </h2>
      {lines(runs)}
      {failures.length > 0 && (
        <>
          <h3>Failed before</h3>
          {lines(failures)}
        </>
      )}
    </section>
  );
}

function RunLine({ run, now }: { readonly run: RunItem; readonly now: number }) {
  const { job, state, error, progress, steps } = run;
  return (
    <li>
      <RunState state={state} /> <a href={runLink(run)}>{job}</a> <span class="soft">{runTimes(run, now)}</span>
      {error !== null && <span class="error"> {error}</span>}
      {state === 'running' && <Progress progress={progress} steps={steps} />}
    </li>
  );
}

function Empty({ command }: { readonly command: string }) {
  return (
    <>
      <h1>Nothing is committed yet</h1>
      <p class="soft">Export some blocks; this page follows.</p>
      <Command text={command} />
    </>
  );
}

const LINES = { mark: 'line', x: '', y: [''], color: '', xType: 'TIMESTAMP', isSmall: true } as const;

/** Transactions and fees over time, refreshed once a minute, not with each commit. */
function ActivityCharts({ now }: { readonly now: number }) {
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
          <Plot rows={rows} choice={LINES} label={title} />
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

/** Maximum number of charts; the server retains the rows of as many results. */
const MAX_CHARTS = 4;

/** Charts saved with queries of the project. */
function SavedCharts() {
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
