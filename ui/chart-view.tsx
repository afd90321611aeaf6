import { useMemo } from 'preact/hooks';
import { formatCount } from '../src/core/format.ts';
import { isNumberType } from '../src/sql/number-type.ts';
import type { ResultRows, RunResult } from '../src/ui/ui-types.ts';
import { withChart } from './chart-line.ts';
import type { ChartChoice } from './draw-chart.ts';
import { Failed } from './notes.tsx';
import { Plot } from './plot.tsx';
import { SaveQuery } from './save-query.tsx';
import { useRequest } from './use-request.ts';

const MARKS = ['line', 'bar', 'dot'] as const;

interface ChartViewProps {
  readonly result: RunResult;
  /** Default: by the types of the columns. */
  readonly choice: ChartChoice | undefined;
  readonly onChoose: (choice: ChartChoice) => void;
  /** The query, if it can be saved with its chart. */
  readonly savedSql: string | undefined;
}

/** A chart of columns that the user chooses. */
export function ChartView({ result, choice = firstChoice(result), onChoose, savedSql }: ChartViewProps) {
  const numbers = result.columns.filter(({ type }) => isNumberType(type));
  if (numbers.length === 0) return <p class="soft">A chart needs a column of numbers.</p>;
  return (
    <div class="chart-view">
      <div class="choices">
        <Choice
          title="Mark"
          value={choice.mark}
          names={MARKS}
          onChange={(mark) => onChoose({ ...choice, mark: mark as ChartChoice['mark'] })}
        />
        <Choice
          title="Across"
          value={choice.x}
          names={result.columns.map(({ name }) => name)}
          onChange={(x) => onChoose({ ...choice, x })}
        />
        <div role="group" aria-label="Up">
          <span>Up</span>
          {numbers.map(({ name }) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={choice.y.includes(name)}
                disabled={choice.y.length === 1 && choice.y.includes(name)}
                onChange={(event) => onChoose({ ...choice, y: withName(choice.y, name, event.currentTarget.checked) })}
              />{' '}
              {name}
            </label>
          ))}
        </div>
        <Choice
          title="Color"
          value={choice.color}
          names={['', ...result.columns.map(({ name }) => name)]}
          onChange={(color) => onChoose({ ...choice, color })}
        />
        {savedSql !== undefined && <SaveQuery sql={withChart(savedSql, choice)} label="Save to the overview" />}
      </div>
      <ChartOf result={result} choice={choice} label={`Chart of ${choice.y.join(', ')} by ${choice.x}`} />
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
  const names = [choice.x, ...choice.y, ...(choice.color === '' ? [] : [choice.color])];
  const path = `/api/results/${result.id}/points?${new URLSearchParams({ columns: names.join('\n') })}`;
  const { value: points, error } = useRequest<ResultRows>(path);
  const drawn = useMemo(
    () => ({ ...choice, xType: result.columns.find((column) => column.name === choice.x)?.type ?? '' }),
    [result, JSON.stringify(choice)],
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

/** Adds or removes a name. */
function withName(names: readonly string[], name: string, isChosen: boolean): readonly string[] {
  return isChosen ? [...names, name] : names.filter((each) => each !== name);
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

/** A time on the x axis if there is one, and on the y axis an amount, or else the first other number. */
function firstChoice({ columns }: RunResult): ChartChoice {
  const time = columns.find(({ type }) => /^(TIMESTAMP|DATE)/.test(type));
  const x = time ?? columns[0];
  const others = columns.filter(({ name }) => name !== x?.name);
  const y =
    others.find(({ isQuantity }) => isQuantity) ?? [...others, ...columns].find(({ type }) => isNumberType(type));
  const isText = x !== undefined && time === undefined && !isNumberType(x.type);
  return { mark: isText ? 'bar' : 'line', x: x?.name ?? '', y: [y?.name ?? ''], color: '' };
}
