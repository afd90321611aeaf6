import { useState } from 'preact/hooks';
import { formatCount } from '../src/core/format.ts';
import type { RenderedItem, ReportItem, ReportParam } from '../src/ui/ui-types.ts';
import { Failed } from './notes.tsx';
import { ReportFrame } from './report-frame.tsx';
import { useRequest } from './use-request.ts';

/** The reports of tonlake and of the project, rendered from the warehouse as it is now. */
export function ReportsPage({ path }: { readonly path: string }) {
  const { value: reports, error } = useRequest<readonly ReportItem[]>('/api/reports');
  const name = decodeURIComponent(/^\/reports\/([^/]+)$/.exec(path)?.[1] ?? '');
  if (error !== undefined) return <Failed error={error} />;
  if (reports === undefined) return <p class="soft">Loading reports…</p>;
  const report = reports.find((each) => each.name === name);
  return (
    <div class={`reports ${report === undefined ? '' : 'has-report'}`}>
      <div class="report-list">
        <h1>Reports</h1>
        <ul>
          {reports.map((each) => (
            <li key={each.name}>
              <a
                href={`/reports/${encodeURIComponent(each.name)}`}
                aria-current={each.name === name ? 'page' : undefined}
              >
                <span class="name">{each.title}</span>
                <span class="doc">{each.doc}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
      {report !== undefined && <ReportView key={report.name} report={report} />}
    </div>
  );
}

function ReportView({ report: { name, title, doc, params, error } }: { readonly report: ReportItem }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [requested, setRequested] = useState<string>();
  const { value: rendered, error: failure } = useRequest<RenderedItem>(requested);
  const isBusy = requested !== undefined && rendered === undefined && failure === undefined;
  const render = (): void => {
    const given = Object.entries(values).map(([param, text]): [string, string] => [`$${param}`, text]);
    // The time makes the path differ, so that the report is rendered again.
    const query = new URLSearchParams([['report', name], ...given, ['at', String(Date.now())]]);
    setRequested(`/api/reports/render?${query}`);
  };
  return (
    <section class="report-view" aria-label={title}>
      <a class="back" href="/reports">
        ← All reports
      </a>
      <h1>{title}</h1>
      <p class="soft">{doc}</p>
      {error !== null && <Failed error={new Error(error)} />}
      {error === null && (
        <form
          class="report-form"
          onSubmit={(event) => {
            event.preventDefault();
            render();
          }}
        >
          {params.map((param) => (
            <Param
              key={param.name}
              param={param}
              value={values[param.name] ?? param.value}
              onInput={(text) => setValues({ ...values, [param.name]: text })}
            />
          ))}
          <button type="submit" class="main" disabled={isBusy}>
            {isBusy ? 'Rendering…' : 'Render'}
          </button>
        </form>
      )}
      {failure !== undefined && <Failed error={failure} />}
      {rendered !== undefined && (
        <>
          <p class="figures" role="status">
            {rendered.isEmpty ? 'no rows, ' : ''}
            {formatCount(rendered.ms)} ms
          </p>
          <ReportFrame address={`/api/reports/pages/${rendered.id}`} title={rendered.title} />
        </>
      )}
    </section>
  );
}

interface ParamProps {
  readonly param: ReportParam;
  readonly value: string;
  readonly onInput: (text: string) => void;
}

function Param({ param: { name, type, doc, isRequired, choices }, value, onInput }: ParamProps) {
  const id = `param-${name}`;
  const own = {
    id,
    value,
    required: isRequired,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => onInput(event.currentTarget.value),
  };
  return (
    <div class="param">
      <label htmlFor={id}>
        {name} <span class="soft">{doc}</span>
      </label>
      {choices.length > 0 ? (
        <select {...own}>
          {!isRequired && <option value="">not chosen</option>}
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : type === 'date' ? (
        <input type="date" {...own} />
      ) : (
        <input type="text" {...own} />
      )}
    </div>
  );
}
