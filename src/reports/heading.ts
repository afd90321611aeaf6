import { choicesFor } from '../core/did-you-mean.ts';
import { type UsageError, usage } from '../core/errors.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { friendlyForm } from '../sql/friendly-form.ts';
import type { Query, QueryResult } from '../sql/query-result.ts';
import { textOf } from '../sql/row-text.ts';
import { cellKind } from './cells.ts';
import type { ReportDef } from './report-definition.ts';

/** Heading of a report: subject, source and period. */
export interface Heading {
  readonly title: string;
  /** Subject of the report; null if it is the whole network. */
  readonly subject: Subject | null;
  readonly network: string;
  /** As given. */
  readonly warehouse: string;
  /** In the time zone of the report, such as `2026-05-01 23:33:19`; null if there is no data. */
  readonly period: { readonly from: string; readonly to: string } | null;
}

interface Subject {
  /** Name of the parameter. */
  readonly name: string;
  readonly value: string;
  /** User-friendly form of an address; null for other values. */
  readonly friendly: string | null;
}

interface HeadingOptions {
  readonly def: ReportDef;
  readonly texts: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly network: string;
  readonly warehouse: string;
}

/** Reads the heading of a report after its selects have run. @throws {UsageError} for unknown names */
export async function readHeading({ def, texts, query, network, warehouse }: HeadingOptions): Promise<Heading> {
  return {
    title: def.front.title,
    network,
    warehouse,
    subject: await readSubject(def, texts, query, network),
    period: await readPeriod(def, query),
  };
}

/** `One account: EQC...`: title and subject in one line. */
export function fullTitle({ title, subject }: Heading): string {
  return subject === null ? title : `${title}: ${subject.friendly ?? subject.value}`;
}

/** `Network sandbox, warehouse data/sandbox, 2026-05-01 23:33:19 to 2026-05-01 23:39:59 (UTC).`: the source in the heading. */
export function sourceText({ network, warehouse, period }: Heading, timezone: string): string {
  const time = period === null ? 'no blocks yet' : `${period.from} to ${period.to} (${timezone})`;
  return `Network ${network}, warehouse ${warehouse}, ${time}.`;
}

async function readSubject(
  { front, path }: ReportDef,
  texts: Readonly<Record<string, string>>,
  query: Query,
  network: string,
): Promise<Subject | null> {
  const { subject, params = {} } = front;
  if (subject === undefined) return null;
  const param = params[subject];
  if (param === undefined) throw bad('a parameter as subject', subject, path, Object.keys(params));
  const value = texts[subject];
  if (value === undefined) return null;
  if (param.type !== 'address') return { name: subject, value, friendly: null };
  return { name: subject, value, friendly: await friendlyForm(query, value, network) };
}

/** The period from the select that the report names, otherwise the first and last block of the warehouse. */
async function readPeriod({ front, blocks, path }: ReportDef, query: Query): Promise<Heading['period']> {
  const { period } = front;
  const ids = blocks.map(({ id }) => id);
  if (period !== undefined && !ids.includes(period)) throw bad('a select as period', period, path, ids);
  const result = await (period === undefined
    ? query(`SELECT local_time(min(block_time)) AS first_time, local_time(max(block_time)) AS last_time
        FROM _headers WHERE workchain = -1`)
    : query(`SELECT first_time, last_time FROM ${quoteName(period)} LIMIT 1`));
  const [from, to] = timesOf(result);
  return from === undefined || to === undefined ? null : { from, to };
}

function timesOf({ columns, rows }: QueryResult): readonly (string | undefined)[] {
  return columns.map(({ type }, at) => (cellKind(type) === 'time' ? textOf(rows[0]?.[at]) : undefined));
}

function bad(expected: string, got: string, path: string, names: readonly string[]): UsageError {
  return usage(expected, `${got} (${path}:1)`, choicesFor(got, names));
}
