import { useEffect, useState } from 'preact/hooks';
import { formatBytes, formatCount, formatDuration } from '../src/core/format.ts';
import type { OutputItem, RunDetail, StepItem } from '../src/ui/ui-types.ts';
import { DataTable, Facts } from './data-table.tsx';
import { Failed } from './notes.tsx';
import { ReportFrame } from './report-frame.tsx';
import { Progress, RunState, stepName } from './run-parts.tsx';
import { timeText, useNow } from './times.ts';
import { useRequest } from './use-request.ts';

interface RunViewProps {
  readonly job: string;
  readonly id: string;
  readonly version: number;
}

/** One run: its steps with durations, published files, and log. */
export function RunView({ job, id, version }: RunViewProps) {
  const [ticks, setTicks] = useState(0);
  const now = useNow();
  const { value, error } = useRequest<RunDetail>(runPath(job, id), {
    version: version + ticks,
    keepsPrevious: true,
  });
  const isOpen = value?.run.progress !== null || value?.run.state === 'running';
  // A killed process sends no event.
  useEffect(() => {
    if (isOpen) setTicks((before) => before + 1);
  }, [now, isOpen]);
  if (error !== undefined) return <Failed error={error} />;
  if (value === undefined) return <p class="soft">Reading the run…</p>;
  const { run, log, logLines, outputs } = value;
  const facts = [
    ['due', `${timeText(run.due)} UTC`],
    ['began', run.startedAt === null ? null : `${timeText(run.startedAt)} UTC`],
    ['took', run.seconds === null ? null : formatDuration(run.seconds)],
    ['range', run.range],
    ['trigger', run.trigger],
    ['attempts', formatCount(run.attempts)],
  ] as const;
  return (
    <div class="run-view">
      <a href="/jobs" class="up">
        ← Jobs
      </a>
      <h1>
        {job} <RunState state={run.state} />
      </h1>
      <Facts facts={facts} />
      {run.progress !== null && <Progress progress={run.progress} steps={run.steps} />}
      {run.error !== null && (
        <div class="note bad" role="alert">
          {run.error}
        </div>
      )}
      {run.steps.length > 0 && <Steps steps={run.steps} />}
      {outputs.length > 0 && <Outputs job={job} id={id} outputs={outputs} />}
      <Log log={log} lines={logLines} />
    </div>
  );
}

function runPath(job: string, id: string): string {
  return `/api/jobs/${encodeURIComponent(job)}/runs/${encodeURIComponent(id)}`;
}

function Steps({ steps }: { readonly steps: readonly StepItem[] }) {
  const most = Math.max(...steps.map(({ seconds }) => seconds), 0.001);
  return (
    <section>
      <h2>Steps</h2>
      <DataTable
        label="Steps"
        class="steps stack"
        columns={['step', 'state', 'took', 'share', 'message']}
        numbers={['took']}
      >
        {steps.map((step, at) => (
          <tr key={`${at} ${step.kind}`}>
            <th scope="row">{stepName(step)}</th>
            <td>
              <RunState state={step.status} />
            </td>
            <td class="number">{formatDuration(step.seconds)}</td>
            <td class="bar">
              <meter value={step.seconds} max={most} aria-label={`Share of the longest step: ${stepName(step)}`} />
            </td>
            <td class="soft wide">{step.message}</td>
          </tr>
        ))}
      </DataTable>
    </section>
  );
}

interface OutputsProps {
  readonly job: string;
  readonly id: string;
  readonly outputs: readonly OutputItem[];
}

const STATES = { published: '', replaced: 'replaced since by other bytes', gone: 'not there any more' } as const;

function Outputs({ job, id, outputs }: OutputsProps) {
  const [shown, setShown] = useState<number>();
  const linkOf = (at: number): string => `${runPath(job, id)}/outputs/${at}`;
  return (
    <section>
      <h2>Published</h2>
      <ul class="outputs">
        {outputs.map(({ path, bytes, state, isPage }, at) => (
          <li key={path}>
            <code>{path}</code> <span class="soft figure">{formatBytes(bytes)}</span>{' '}
            {state !== 'published' && <span class="state part">{STATES[state]}</span>}
            {state === 'published' && isPage && (
              <button
                type="button"
                class="plain"
                aria-expanded={shown === at}
                onClick={() => setShown(shown === at ? undefined : at)}
              >
                {shown === at ? 'Hide' : 'Show'}
              </button>
            )}
            {state === 'published' && !isPage && (
              <a class="plain" href={linkOf(at)} download="">
                Download
              </a>
            )}
          </li>
        ))}
      </ul>
      {shown !== undefined && <ReportFrame address={linkOf(shown)} title={outputs[shown]?.path ?? ''} />}
    </section>
  );
}

function Log({ log, lines }: { readonly log: readonly string[]; readonly lines: number }) {
  return (
    <section>
      <h2>Log</h2>
      {lines === 0 && <p class="soft">This run has no log.</p>}
      {lines > log.length && <p class="soft">The newest {formatCount(log.length)} lines.</p>}
      {lines > 0 && (
        <pre class="code log" tabIndex={0}>
          {log.map((line) => `${timeText(line)}  ${line.slice(25)}\n`).join('')}
        </pre>
      )}
    </section>
  );
}
