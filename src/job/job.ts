import type { CronTimes } from './cron.ts';
import type { ExportFormat, ReportFormat } from './formats.ts';
import type { JobRange } from './range.ts';
import type { JobFields, Notice } from './schema.ts';

/** A job whose every name, range, zone and path was found good. */
export interface Job {
  readonly name: string;
  readonly file: string;
  /** SHA-256 of what the file says, 64 hex digits: a run is taken up again only by the same job. */
  readonly digest: string;
  readonly doc: string;
  readonly network: string;
  /** As given, or `data/<network>`. */
  readonly warehouse: string;
  readonly rps: number | 'auto' | undefined;
  readonly lane: JobFields['lane'];
  readonly pipelines: readonly string[];
  readonly range: JobRange;
  readonly zone: string;
  /** What days are counted from. */
  readonly clock: 'wall' | 'chain';
  /** Undefined for all of them. */
  readonly marts: readonly string[] | undefined;
  readonly checks: readonly string[] | undefined;
  readonly outputs: readonly OutputTarget[];
  readonly notify: readonly Notice[];
  readonly schedule: JobSchedule | undefined;
}

export interface JobSchedule {
  readonly cron: string;
  readonly zone: string;
  /** Most missed runs that are made up for. */
  readonly catchUp: number;
  readonly times: CronTimes;
}

/** A file that the job publishes. `output` may hold `{date}` and `{job}`. */
export type OutputTarget =
  | {
      readonly kind: 'report';
      readonly report: string;
      readonly params: Readonly<Record<string, string>>;
      readonly format: ReportFormat;
      readonly output: string;
    }
  | { readonly kind: 'table'; readonly table: string; readonly format: ExportFormat; readonly output: string }
  | { readonly kind: 'query'; readonly sql: string; readonly format: ExportFormat; readonly output: string };

/** What `{date}` and `{job}` stand for in one run. */
export interface Placeholders {
  readonly date: string;
  readonly job: string;
}

/** Puts values in place of `{date}` and `{job}`. */
export function fillIn(text: string, values: Placeholders): string {
  return text.replaceAll('{date}', values.date).replaceAll('{job}', values.job);
}

/** Words in braces that stand for nothing. */
export function unknownPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(/\{([^{}]*)\}/g)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'date' && name !== 'job');
}
