import type { TextLines } from '../core/yaml.ts';
import type { Selection } from '../declare/selection.ts';
import type { Priority } from '../rate-limit/priority.ts';
import type { ReportFormat } from '../reports/report-format.ts';
import type { CronTimes } from './cron.ts';
import type { ExportFormat } from './export-formats.ts';
import type { JobRange } from './job-range.ts';
import type { Notice } from './job-schema.ts';

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
  readonly priority: Priority;
  readonly pipelines: readonly string[];
  /** Tables and columns of them that are exported. */
  readonly selection: Selection;
  readonly range: JobRange;
  readonly zone: string;
  /** What days are counted from. */
  readonly clock: 'wall' | 'chain';
  /** How the warehouse is verified after the export; undefined when it is not. */
  readonly verify: JobVerify | undefined;
  /** True if small files are merged after the export. */
  readonly compact: boolean;
  /** What is forgotten when all else is done; undefined for nothing. */
  readonly retention: JobRetention | undefined;
  /** Undefined for all of them. */
  readonly marts: readonly string[] | undefined;
  readonly checks: readonly string[] | undefined;
  readonly outputs: readonly OutputTarget[];
  readonly notify: readonly Notice[];
  readonly schedule: JobSchedule | undefined;
}

export interface JobVerify {
  /** `run`: the blocks of the run; everything where the run has none. */
  readonly range: 'all' | 'run';
  readonly deep: boolean;
  readonly repair: boolean;
}

/** How long rows are kept. */
export interface JobRetention {
  /** Whole UTC days, counted back from the moment of the run. */
  readonly keepDays: number;
  /** Pipelines whose older rows are forgotten. */
  readonly pipelines: readonly string[];
}

export interface JobSchedule {
  readonly cron: string;
  readonly zone: string;
  /** Most missed runs that are made up for. */
  readonly catchUp: number;
  readonly times: CronTimes;
}

/** A file that the job publishes. `output` may hold placeholders. */
export type OutputTarget =
  | {
      readonly kind: 'report';
      readonly report: string;
      readonly params: Readonly<Record<string, string>>;
      readonly format: ReportFormat;
      readonly output: string;
    }
  | { readonly kind: 'table'; readonly table: string; readonly format: ExportFormat; readonly output: string }
  | ({ readonly kind: 'query'; readonly format: ExportFormat; readonly output: string } & PlacedQuery);

/** A select, and where it stands. */
export interface PlacedQuery {
  readonly sql: string;
  readonly lines: TextLines;
}

/** What words in braces stand for in one run. */
export interface Placeholders {
  /** Last day of the range; the day of the run where there is no range. */
  readonly date: string;
  /** First day of the range, or the same. */
  readonly first_date: string;
  /** Name of the job. */
  readonly job: string;
}

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Puts values in place of `{date}`, `{first_date}` and `{job}`. */
export function fillIn(text: string, values: Placeholders): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => (isPlaceholder(name) ? values[name] : whole));
}

/** Words in braces that stand for nothing. */
export function unknownPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name).filter((name) => !isPlaceholder(name));
}

function isPlaceholder(name: string): name is keyof Placeholders {
  return name === 'date' || name === 'first_date' || name === 'job';
}
