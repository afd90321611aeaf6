import type { TextLines } from '../core/yaml.ts';
import type { Selection } from '../declare/selection.ts';
import type { CatalogFlags } from '../iceberg/rest/catalog-config.ts';
import type { Priority } from '../rate-limit/priority.ts';
import type { ReportFormat } from '../reports/report-format.ts';
import type { WholeFormat } from '../targets/target.ts';
import type { CronTimes } from './cron.ts';
import type { JobRange } from './job-range.ts';
import type { JobFields } from './job-schema.ts';

/** A job whose names, ranges, zones and paths are valid. */
export interface Job
  extends Pick<JobFields, 'rps' | 'pipelines' | 'verify' | 'compact' | 'marts' | 'checks' | 'notify'> {
  readonly name: string;
  readonly file: string;
  /** SHA-256 of the contents and of the files that it names, 64 hex digits: a run is resumed only if the job has not changed. */
  readonly digest: string;
  readonly doc: string;
  readonly network: string;
  /** As given, or `data/<network>`. */
  readonly warehouse: string;
  readonly priority: Priority;
  /** Exported tables and columns. */
  readonly selection: Selection;
  readonly range: JobRange;
  readonly zone: string;
  /** What days are counted from. */
  readonly clock: 'wall' | 'chain';
  /** Where tables and marts are published as Iceberg tables at the end; undefined for nowhere. */
  readonly iceberg: JobIceberg | undefined;
  /** Which rows are forgotten at the end; undefined for none. */
  readonly retention: JobRetention | undefined;
  readonly outputs: readonly OutputTarget[];
  readonly databases: readonly DatabaseTarget[];
  readonly schedule: JobSchedule | undefined;
}

/** Where Iceberg tables are published: in the warehouse, or in a catalog. */
export interface JobIceberg {
  /** Credentials come from the environment when it is used. */
  readonly catalog: CatalogFlags | undefined;
  /** Path or address of the warehouse as readers see it. */
  readonly location: string | undefined;
}

/** How long rows are kept. */
export interface JobRetention {
  /** Number of whole UTC days, counted back from the moment of the run. */
  readonly keepDays: number;
  /** Pipelines whose older rows are forgotten. */
  readonly pipelines: readonly string[];
}

export interface JobSchedule {
  readonly cron: string;
  readonly zone: string;
  /** Maximum number of missed runs to catch up on. */
  readonly catchUp: number;
  readonly times: CronTimes;
  /** Deadlines: a run is expected to be done at the first one after its due time. */
  readonly expected: CronTimes;
}

/** A file that the job publishes. `output` may contain placeholders. */
export type OutputTarget =
  | {
      readonly kind: 'report';
      readonly report: string;
      readonly params: Readonly<Record<string, string>>;
      readonly format: ReportFormat;
      readonly output: string;
    }
  | {
      readonly kind: 'rows';
      readonly source: RowsSource;
      readonly format: WholeFormat;
      readonly output: string;
      /** Name of the first sheet of a workbook. */
      readonly as: string | undefined;
    };

/** Rows that the job writes to a database. */
export interface DatabaseTarget {
  readonly source: RowsSource;
  /** URL without a password, or path of a SQLite file; may contain placeholders. */
  readonly to: string;
  /** Name of the table there. */
  readonly as: string;
}

/** Rows of a table or mart, or of a select. */
export type RowsSource = { readonly table: string } | PlacedQuery;

/** A select, and its position in a file. */
export interface PlacedQuery {
  readonly sql: string;
  readonly lines: TextLines;
}

/** Values of the placeholders in one run. */
export interface Placeholders {
  /** Last day of the range; the day of the run if there is no range. */
  readonly date: string;
  /** First day of the range, or the same. */
  readonly first_date: string;
  /** Name of the job. */
  readonly job: string;
}

/** Sample values, to check texts with placeholders. */
export const SAMPLE: Placeholders = { first_date: '2026-05-01', date: '2026-05-01', job: 'job' };

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Replaces `{date}`, `{first_date}` and `{job}`. */
export function fillIn(text: string, values: Placeholders): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => (isPlaceholder(name) ? values[name] : whole));
}

/** Unknown placeholders. */
export function unknownPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name).filter((name) => !isPlaceholder(name));
}

function isPlaceholder(name: string): name is keyof Placeholders {
  return name === 'date' || name === 'first_date' || name === 'job';
}
