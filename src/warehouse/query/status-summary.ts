import { choicesFor } from '../../core/did-you-mean.ts';
import { UsageError } from '../../core/errors.ts';
import { alignColumns, counted, formatAge, formatBytes, formatCount } from '../../core/format.ts';
import { formatSpans, type Span } from '../../core/span.ts';
import { describeLeftOut, nameSome } from './left-out-gaps.ts';
import { describeNewest, type WarehouseStatus } from './status.ts';

const MOST_SPANS = 3;
const MOST_MARTS = 2;

/** What is missing, then one line for each pipeline and mart. */
export function formatSummary(status: WarehouseStatus, now = Date.now()): string {
  const head = `${status.network} in ${status.warehouse} (${status.store})`;
  if (status.pipelines.length + status.marts.length === 0) return `${head}\n\nnothing is committed yet\n`;
  const lacks = lacksOf(status);
  const isOpen = lacks.some(([kind]) => kind === 'missing' || kind === 'quarantined');
  return [
    head,
    ...describeNewest(status, now),
    '',
    ...(isOpen ? [] : ['nothing is missing or in quarantine']),
    ...alignColumns(lacks),
    '',
    ...alignColumns([
      ['pipeline', 'done', 'rows', ...(status.store === 'parquet' ? ['files'] : []), 'last commit'],
      ...partsOf(status, now),
    ]),
    '',
    'one in full: tonlake status NAME',
    'all in full: tonlake status --long',
    '',
  ].join('\n');
}

/** The status of some pipelines and marts alone. @throws {UsageError} `unknown-pipeline` */
export function selectStatus(status: WarehouseStatus, names: readonly string[]): WarehouseStatus {
  const all = [...status.pipelines.map(({ pipeline }) => pipeline), ...status.marts.map(({ mart }) => mart)];
  for (const name of names) {
    if (all.includes(name)) continue;
    throw new UsageError(`usage: expected a pipeline or mart in the warehouse, got ${name}`, {
      code: 'unknown-pipeline',
      hint: choicesFor(name, all),
    });
  }
  return {
    ...status,
    pipelines: status.pipelines.filter(({ pipeline }) => names.includes(pipeline)),
    marts: status.marts.filter(({ mart }) => names.includes(mart)),
  };
}

function lacksOf({ pipelines, marts, quarantined }: WarehouseStatus): readonly (readonly string[])[] {
  const unproven = pipelines.filter((each) => each.unproven.length > 0);
  const early = pipelines.filter((each) => each.notFinal.length > 0);
  const days = pipelines.find((each) => each.days.length > 0)?.days.filter(({ isWhole }) => !isWhole) ?? [];
  const notWhole = new Map<string, readonly string[]>();
  for (const { mart, marked } of marts.filter((each) => each.marked.length > 0)) {
    const parts = nameSome(marked);
    notWhole.set(parts, [...(notWhole.get(parts) ?? []), mart]);
  }
  const stale = marts.filter(({ behind }) => behind?.since !== undefined).map(({ mart }) => mart);
  const records = `${counted(quarantined, 'record')} in quarantine`;
  return [
    ...pipelines.filter(({ holes }) => holes.length > 0).map((each) => ['missing', each.pipeline, some(each.holes)]),
    ...pipelines
      .filter((each) => each.forgotten.length > 0)
      .map((each) => ['forgotten', each.pipeline, some(each.forgotten)]),
    ...pipelines
      .filter((each) => each.quarantined.length > 0)
      .map((each) => ['quarantined', each.pipeline, some(each.quarantined)]),
    ...(quarantined === 0 ? [] : [['quarantined', `${records}: tonlake sql "select * from quarantine"`]]),
    ...(stale.length === 0 ? [] : [['stale', `${firstFew(stale)}: tonlake build`]]),
    ...[...notWhole].map(([parts, names]) => ['not whole', `${parts}: ${firstFew(names)}`]),
    ...pipelines.flatMap(({ leftOut }) => leftOut.map((gap) => ['left out', describeLeftOut(gap)])),
    ...(days.length === 0 ? [] : [['partial days', nameSome(days.map(({ date }) => date))]]),
    ...(early.length === 0
      ? []
      : [['not final', `${early.map(({ pipeline }) => pipeline).join(', ')}: read again later`]]),
    ...(unproven.length === 0
      ? []
      : [['only read', `not proven: ${unproven.map(({ pipeline }) => pipeline).join(', ')}`]]),
  ];
}

function partsOf({ pipelines, marts, store }: WarehouseStatus, now: number): readonly (readonly string[])[] {
  const age = (time: string): string => `${formatAge((now - Date.parse(time)) / 1000)} ago`;
  const filesOf = ({ files, bytes }: { readonly files: number; readonly bytes: number }): readonly string[] =>
    store === 'parquet' ? [`${formatCount(files)} (${formatBytes(bytes)})`] : [];
  const walked = pipelines.map((each) => {
    const counts = Object.values(each.rows);
    const rows = formatCount(counts.reduce((sum, count) => sum + count, 0));
    const done = each.done.length === 0 ? '-' : some(each.done);
    return [
      each.pipeline,
      done,
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
  const rest = names.length - MOST_MARTS;
  return rest > 1 ? `${names.slice(0, MOST_MARTS).join(', ')} and ${rest} more` : names.join(', ');
}

/** The first few spans, and the number of the others. */
function some(spans: readonly Span[]): string {
  const rest = spans.length - MOST_SPANS;
  const shown = formatSpans(spans.slice(0, MOST_SPANS));
  return rest > 0 ? `${shown} and ${formatCount(rest)} more` : shown;
}
