import { formatCount, formatDuration } from '../src/core/format.ts';
import type { RunItem, StepItem } from '../src/ui/ui-types.ts';
import { ago } from './times.ts';

const LOOKS: Readonly<Record<string, string>> = {
  done: 'proven',
  failed: 'quarantined',
  killed: 'quarantined',
  running: 'unproven',
  publishing: 'unproven',
};

/** The state of a run or step. */
export function RunState({ state }: { readonly state: string }) {
  return <span class={`state ${LOOKS[state] ?? 'part'}`}>{state}</span>;
}

/** The address of a run. */
export function runLink({ job, id }: Pick<RunItem, 'job' | 'id'>): string {
  return `/jobs/${encodeURIComponent(job)}/${encodeURIComponent(id)}`;
}

/** `2 min ago, 14 s`. */
export function runTimes({ startedAt, due, seconds }: RunItem, now: number): string {
  return `${ago(startedAt ?? due, now)}${seconds === null ? '' : `, ${formatDuration(seconds)}`}`;
}

/** Progress of a running job: its last step, and blocks if it exports some. */
export function Progress({ progress, steps }: Pick<RunItem, 'progress' | 'steps'>) {
  const last = steps.at(-1);
  return (
    <div class="progress">
      {progress !== null && (
        <>
          <progress value={progress.done} max={progress.total} aria-label="Blocks that are done" />
          <span class="figure">
            {formatCount(progress.done)} of {formatCount(progress.total)} blocks
          </span>
        </>
      )}
      <span class="soft">{last === undefined ? 'beginning' : `after ${stepName(last)}`}</span>
    </div>
  );
}

/** `publish 3 files`, `mart gas_fees_daily`. */
export function stepName({ kind, name }: StepItem): string {
  return kind === 'publish' ? `publish ${name} ${name === '1' ? 'file' : 'files'}` : `${kind} ${name}`;
}
