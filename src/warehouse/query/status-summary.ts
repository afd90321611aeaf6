import { isFullDay } from '../../chain/day-spans.ts';
import { choicesFor } from '../../core/did-you-mean.ts';
import { usage } from '../../core/errors.ts';
import { alignColumns, counted, formatAge, formatBytes, formatCount } from '../../core/format.ts';
import { groupBy } from '../../core/group-by.ts';
import { formatSpans, type Span } from '../../core/span.ts';
import { suggest } from '../../core/suggest.ts';
import { describeParts, partOf } from './coverage.ts';
import { describeLeftOut, nameSome } from './left-out-gaps.ts';
import { describeBehind } from './query-coverage.ts';
import { describeNewest, storedSpans, type WarehouseStatus } from './status.ts';

const MAX_SPANS = 3;
const MAX_MARTS = 2;

/** Missing blocks, then one line for each pipeline and mart. */
export function formatSummary(status: WarehouseStatus, now = Date.now()): string {
  const head = `${status.network} in ${status.warehouse} (${status.store})`;
  if (status.pipelines.length + status.marts.length === 0) return `${head}\n\nnothing is committed yet\n`;
  const lacks = lacksOf(status);
  const isOpen = lacks.some(([kind]) => kind === 'missing' || kind === 'quarantined');
  return [
    head,
    ...describeNewest(status, now),
    '',
    ...(isOpen ? [] : ['nothing is missing']),
    ...alignColumns(lacks),
    '',
    ...alignColumns([
      ['pipeline', 'there', 'rows', ...(status.store === 'parquet' ? ['files'] : []), 'last commit'],
      ...partsOf(status, now),
    ]),
    '',
    `one in full: ${suggest('status', status.pipelines[0]?.pipeline)}`,
    `all in full: ${suggest('status', '--long')}`,
    '',
  ].join('\n');
}

/** The status of some pipelines and marts alone. @throws {UsageError} `unknown-pipeline` */
export function selectStatus(status: WarehouseStatus, names: readonly string[]): WarehouseStatus {
  const all = [...status.pipelines.map(({ pipeline }) => pipeline), ...status.marts.map(({ mart }) => mart)];
  for (const name of names) {
    if (all.includes(name)) continue;
    throw usage('a pipeline or mart in the warehouse', name, choicesFor(name, all), { code: 'unknown-pipeline' });
  }
  return {
    ...status,
    pipelines: status.pipelines.filter(({ pipeline }) => names.includes(pipeline)),
    marts: status.marts.filter(({ mart }) => names.includes(mart)),
  };
}

function lacksOf({ pipelines, marts, quarantined }: WarehouseStatus): readonly (readonly string[])[] {
  const days = pipelines.find((each) => each.days.length > 0)?.days.filter((day) => !isFullDay(day)) ?? [];
  const lacking = groupBy(
    marts.filter((each) => each.lacking.length > 0),
    (each) => partOf(each.lacking, nameSome),
  );
  const unproven = groupBy(
    pipelines.filter((each) => each.unproven.length > 0),
    (each) => describeParts(each.unproven, some),
  );
  const stale = groupBy(
    marts.flatMap(({ mart, behind }) => (behind === undefined ? [] : [{ mart, behind: describeBehind(behind) }])),
    ({ behind }) => behind,
  );
  const records = `${counted(quarantined, 'record')} in quarantine`;
  return [
    ...pipelines.flatMap(({ pipeline, missing }) =>
      missing.length === 0 ? [] : [['missing', pipeline, describeParts(missing, some)]],
    ),
    ...[...lacking].map(([parts, own]) => ['missing', firstFew(own.map(({ mart }) => mart)), parts]),
    ...pipelines.flatMap(({ leftOut }) => leftOut.map((gap) => ['missing', describeLeftOut(gap)])),
    ...(quarantined === 0 ? [] : [['quarantined', `${records}: ${suggest('sql', '"select * from quarantine"')}`]]),
    ...[...stale].map(([behind, own]) => [
      ...['stale', firstFew(own.map(({ mart }) => mart))],
      `${behind}: ${suggest('build')}`,
    ]),
    ...[...unproven].map(([parts, own]) => ['unproven', firstFew(own.map(({ pipeline }) => pipeline)), parts]),
    ...(days.length === 0 ? [] : [['half a day', nameSome(days.map(({ date }) => date))]]),
  ];
}

function partsOf({ pipelines, marts, store }: WarehouseStatus, now: number): readonly (readonly string[])[] {
  const age = (time: string): string => `${formatAge((now - Date.parse(time)) / 1000)} ago`;
  const filesOf = ({ files, bytes }: { readonly files: number; readonly bytes: number }): readonly string[] =>
    store === 'parquet' ? [`${formatCount(files)} (${formatBytes(bytes)})`] : [];
  const walked = pipelines.map((each) => {
    const counts = Object.values(each.rows);
    const rows = formatCount(counts.reduce((sum, count) => sum + count, 0));
    const stored = storedSpans(each);
    const blocks = stored.length === 0 ? '-' : some(stored);
    return [
      each.pipeline,
      blocks,
      counts.length > 1 ? `${rows} (${counts.length} tables)` : rows,
      ...filesOf(each),
      each.lastCommit === undefined ? 'never' : age(each.lastCommit),
    ];
  });
  const built = marts.map((each) => {
    const days = each.days === 0 ? 'mart' : `mart, ${counted(each.days, 'day')}`;
    return [each.mart, days, formatCount(each.rows), ...filesOf(each), age(each.lastCommit)];
  });
  return [...walked, ...built];
}

/** `a, b, c and 9 more`; --long has all. */
function firstFew(names: readonly string[]): string {
  const rest = names.length - MAX_MARTS;
  return rest > 1 ? `${names.slice(0, MAX_MARTS).join(', ')} and ${rest} more` : names.join(', ');
}

/** The first few spans, and the number of the others. */
function some(spans: readonly Span[]): string {
  const rest = spans.length - MAX_SPANS;
  const shown = formatSpans(spans.slice(0, MAX_SPANS));
  return rest > 0 ? `${shown} and ${formatCount(rest)} more` : shown;
}
