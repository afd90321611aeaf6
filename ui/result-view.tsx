import { useMemo, useReducer, useState } from 'preact/hooks';
import { counted, formatBytes, formatCount } from '../src/core/format.ts';
import type { RunResult, Session } from '../src/ui/ui-types.ts';
import { ChartView } from './chart-view.tsx';
import { CopyButton } from './copy-button.tsx';
import { Tabs } from './data-table.tsx';
import type { ChartChoice } from './draw-chart.ts';
import { Grid } from './grid.tsx';
import { Failed, Gaps } from './notes.tsx';
import { RowPages, type Sorting } from './row-pages.ts';

const FORMATS = ['CSV', 'JSON', 'Parquet', 'XLSX'];

const VIEWS = ['Rows', 'Chart'] as const;

interface ResultViewProps {
  readonly result: RunResult;
  /** How the rows are drawn; undefined for the grid. */
  readonly chart: ChartChoice | undefined;
  readonly onChart: (choice: ChartChoice) => void;
  /** The query, if it can be saved with its chart. */
  readonly savedSql: string | undefined;
  readonly session: Session;
}

/** The rows of a query, as a grid or as a chart. */
export function ResultView({ result, chart, onChart, savedSql, session }: ResultViewProps) {
  const [view, setView] = useState<(typeof VIEWS)[number]>(chart === undefined ? 'Rows' : 'Chart');
  const [sorting, setSorting] = useState<Sorting>();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const path = `/api/results/${result.id}`;
  const rows = useMemo(() => new RowPages(`${path}/rows`, sorting, () => redraw(undefined)), [path, sorting]);
  return (
    <section class="result" aria-label="Result">
      <Gaps gaps={result.warnings} />
      <div class="result-bar">
        <Tabs label="View of the result" names={VIEWS} chosen={view} onChoose={setView} />
        <p class="figures" role="status">
          {result.isCut && 'first '}
          {counted(result.count, 'row')}, {formatCount(result.ms)} ms
          {result.bytesRead !== null && `, ${formatBytes(result.bytesRead)} read`}
        </p>
        <div class="downloads">
          <CopyButton text={location.href} label="Copy link" />
          {FORMATS.map((title) => {
            const format = title.toLowerCase();
            return (
              <a key={format} class="plain" href={`${path}/download?format=${format}`} download={`result.${format}`}>
                {title}
              </a>
            );
          })}
        </div>
      </div>
      {result.isCut && (
        <p class="soft">
          The query has more than {formatCount(session.maxRows)} rows. {session.writeCommand} writes all of them.
        </p>
      )}
      {view === 'Rows' && rows.error !== undefined && <Failed error={rows.error} />}
      {view === 'Rows' ? (
        <Grid
          label="Rows of the result"
          columns={result.columns}
          count={result.count}
          rows={rows}
          sorting={sorting}
          onSort={setSorting}
        />
      ) : (
        <ChartView result={result} choice={chart} onChoose={onChart} savedSql={savedSql} />
      )}
    </section>
  );
}
