import { useMemo, useState } from 'preact/hooks';
import { formatCount } from '../src/core/format.ts';
import { isNumberType } from '../src/sql/number-type.ts';
import type { ResultRows, RunResult } from '../src/ui/ui-types.ts';
import { withChart } from './chart-line.ts';
import type { ChartChoice } from './draw-chart.ts';
import { Failed } from './notes.tsx';
import { Plot } from './plot.tsx';
import { SaveQuery } from './save-query.tsx';
import { useAnswer } from './use-answer.ts';

const MARKS = ['line', 'bar', 'dot'] as const;

interface ChartViewProps {
  readonly result: RunResult;
  /** The query, if it can be saved with its chart. */
  readonly savedSql: string | undefined;
}

/** A chart of those columns of a result that are chosen. */
export function ChartView({ result, savedSql }: ChartViewProps) {
  const [choice, setChoice] = useState(() => firstChoice(result));
  const numbers = result.columns.filter(({ type }) => isNumberType(type));
  if (numbers.length === 0) return <p class="soft">A chart needs a column of numbers.</p>;
  return (
    <div class="chart-view">
      <div class="choices">
        <Choice
          title="Mark"
          value={choice.mark}
          names={MARKS}
          onChange={(mark) => setChoice({ ...choice, mark: mark as ChartChoice['mark'] })}
        />
        <Choice
          title="Across"
          value={choice.x}
          names={result.columns.map(({ name }) => name)}
          onChange={(x) => setChoice({ ...choice, x })}
        />
        <Choice
          title="Up"
          value={choice.y}
          names={numbers.map(({ name }) => name)}
          onChange={(y) => setChoice({ ...choice, y })}
        />
        <Choice
          title="Color"
          value={choice.color}
          names={['', ...result.columns.map(({ name }) => name)]}
          onChange={(color) => setChoice({ ...choice, color })}
        />
        {savedSql !== undefined && <SaveQuery sql={withChart(savedSql, choice)} label="Save to the overview" />}
      </div>
      <ChartOf result={result} choice={choice} label={`Chart of ${choice.y} by ${choice.x}`} />
    </div>
  );
}

interface ChartOfProps {
  readonly result: RunResult;
  readonly choice: ChartChoice;
  readonly label: string;
}

/** A chart of some columns of a result. */
export function ChartOf({ result, choice, label }: ChartOfProps) {
  const names = [choice.x, choice.y, ...(choice.color === '' ? [] : [choice.color])];
  const path = `/api/results/${result.id}/points?${new URLSearchParams({ columns: names.join('\n') })}`;
  const { value: points, error } = useAnswer<ResultRows>(choice.y === '' ? undefined : path);
  const drawn = useMemo(
    () => ({ ...choice, xType: result.columns.find((column) => column.name === choice.x)?.type ?? '' }),
    [result, choice.mark, choice.x, choice.y, choice.color],
  );
  return (
    <>
      {error !== undefined && <Failed error={error} />}
      {points !== undefined && points.rows.length < result.count && (
        <p class="soft">The first {formatCount(points.rows.length)} rows. Group them in the query to chart all.</p>
      )}
      {points !== undefined && <Plot rows={points.rows} choice={drawn} label={label} />}
    </>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly value: string;
  readonly names: readonly string[];
  readonly onChange: (name: string) => void;
}

function Choice({ title, value, names, onChange }: ChoiceProps) {
  return (
    <label>
      <span>{title}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name === '' ? 'none' : name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Time across where there is one, the first other number up. */
function firstChoice({ columns }: RunResult): ChartChoice {
  const time = columns.find(({ type }) => /^(TIMESTAMP|DATE)/.test(type));
  const x = time ?? columns[0];
  const y =
    columns.find(({ name, type }) => name !== x?.name && isNumberType(type)) ??
    columns.find(({ type }) => isNumberType(type));
  const isText = x !== undefined && time === undefined && !isNumberType(x.type);
  return { mark: isText ? 'bar' : 'line', x: x?.name ?? '', y: y?.name ?? '', color: '' };
}
