import { useState } from 'preact/hooks';
import { formatDuration } from '../src/core/format.ts';
import type { JobItem, Jobs, RunItem } from '../src/ui/ui-types.ts';
import { Command } from './copy-button.tsx';
import { DataTable } from './data-table.tsx';
import { Failed } from './notes.tsx';
import { Progress, RunState, runLink, runTimes } from './run-parts.tsx';
import { RunView } from './run-view.tsx';
import { ago, minuteText, until, useNow } from './times.ts';
import { useLive } from './use-live.ts';
import { useRequest } from './use-request.ts';

/** Number of runs before the button for more. */
const FIRST_RUNS = 30;

/** Jobs with their schedules, and the history of their runs; or one run in full. */
export function JobsPage({ path }: { readonly path: string }) {
  const [, job, id] = /^\/jobs\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const version = useLive('commit', 'runs');
  if (job !== undefined && id !== undefined)
    return <RunView key={path} job={decodeURIComponent(job)} id={decodeURIComponent(id)} version={version} />;
  return <JobList version={version} />;
}

function JobList({ version }: { readonly version: number }) {
  const now = useNow();
  const { value, error } = useRequest<Jobs>('/api/jobs', { version });
  if (error !== undefined) return <Failed error={error} />;
  if (value === undefined) return <p class="soft">Reading the runs…</p>;
  const { jobs, runs } = value;
  const underWay = runs.filter(({ state }) => state === 'running' || state === 'publishing');
  return (
    <div class="jobs">
      <h1>Jobs</h1>
      {underWay.map((run) => (
        <section key={`${run.job} ${run.id}`} class="note under-way" aria-label={`Run of ${run.job} under way`}>
          <p>
            <RunState state={run.state} />{' '}
            <a href={runLink(run)}>
              <b>{run.job}</b>
            </a>{' '}
            <span class="soft">
              {run.range !== null && `${run.range}, `}since {ago(run.startedAt ?? run.due, now)}
            </span>
          </p>
          <Progress progress={run.progress} steps={run.steps} />
        </section>
      ))}
      {jobs.length === 0 && runs.length === 0 && <NoJobs command={value.beginCommand} />}
      {jobs.length > 0 && (
        <DataTable label="Jobs" class="stack" columns={['job', 'last run', 'next due', 'schedule', 'writes']}>
          {jobs.map((job) => (
            <JobRow key={job.file} job={job} last={runs.find((run) => run.job === job.name)} now={now} />
          ))}
        </DataTable>
      )}
      {runs.length > 0 && <Runs runs={runs} now={now} />}
    </div>
  );
}

function NoJobs({ command }: { readonly command: string }) {
  return (
    <>
      <p class="soft">
        No job file of the working folder names this warehouse, and none has run on it. A project with a job begins so:
      </p>
      <Command text={command} />
    </>
  );
}

interface JobRowProps {
  readonly job: JobItem;
  readonly last: RunItem | undefined;
  readonly now: number;
}

function JobRow({ job: { name, file, doc, schedule, next, outputs, error }, last, now }: JobRowProps) {
  return (
    <tr>
      <th scope="row" title={file}>
        {name}
        {doc !== '' && <div class="soft doc">{doc}</div>}
        {error !== null && <div class="error doc">{error}</div>}
      </th>
      <td>
        {last === undefined ? (
          <span class="soft">never ran</span>
        ) : (
          <a href={runLink(last)} class="quiet">
            <RunState state={last.state} /> <span class="soft">{runTimes(last, now)}</span>
          </a>
        )}
      </td>
      <td class="figure" data-label="next" title={next ?? ''}>
        {next === null ? '' : until(next, now)}
      </td>
      <td class="soft" data-label="schedule">
        {schedule ?? 'by hand'}
      </td>
      <td class="soft">
        {outputs.map((output) => (
          <div key={output}>{output}</div>
        ))}
      </td>
    </tr>
  );
}

function Runs({ runs, now }: { readonly runs: readonly RunItem[]; readonly now: number }) {
  const [count, setCount] = useState(FIRST_RUNS);
  const [job, setJob] = useState('');
  const names = [...new Set(runs.map((run) => run.job))].sort();
  const shown = runs.filter((run) => job === '' || run.job === job);
  return (
    <section>
      <div class="section-head">
        <h2>Runs</h2>
        {names.length > 1 && (
          <label class="soft">
            Job{' '}
            <select value={job} onChange={(event) => setJob(event.currentTarget.value)}>
              <option value="">all</option>
              {names.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <DataTable
        label="Runs"
        class="runs-table stack"
        columns={['run', 'state', 'range', 'began', 'took', 'what went wrong']}
        numbers={['took']}
      >
        {shown.slice(0, count).map((run) => (
          <tr key={`${run.job} ${run.id}`}>
            <th scope="row">
              <a href={runLink(run)}>
                {run.job} {minuteText(run.due)}
              </a>
            </th>
            <td>
              <RunState state={run.state} />
              {run.attempts > 1 && <span class="soft"> attempt {run.attempts}</span>}
            </td>
            <td class="figure" data-label="blocks">
              {run.range}
            </td>
            <td class="soft when">{ago(run.startedAt ?? run.due, now)}</td>
            <td class="number" data-label="took">
              {run.seconds === null ? '' : formatDuration(run.seconds)}
            </td>
            <td class="error">{run.error}</td>
          </tr>
        ))}
      </DataTable>
      {shown.length > count && (
        <p>
          <button type="button" onClick={() => setCount(count * 4)}>
            Older runs
          </button>
        </p>
      )}
    </section>
  );
}
