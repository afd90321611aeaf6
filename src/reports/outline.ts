import { formatCount } from '../core/format.ts';
import { shortSpans } from '../core/span.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { cellText, type ShownColumn } from './cells.ts';
import { changesOf } from './changes.ts';
import { fullTitle, sourceText } from './heading.ts';
import { coverageTexts, createdText, GAPS_TITLE, type Provenance } from './provenance.ts';
import { emptyText, type Report, resultOf } from './report.ts';
import type { Directive } from './report-definition.ts';
import { columnsOfChart, shownColumns } from './shown-columns.ts';

/** Text format of the parts of a report. */
export interface OutlineStyle {
  readonly title: (text: string) => string;
  /** Above a table, a chart or figures. */
  readonly caption: (text: string) => string;
  /** Escapes text from the chain. */
  readonly escape: (text: string) => string;
  readonly gaps: (title: string, gaps: readonly string[]) => string;
  readonly table: (table: OutlineTable) => string;
  readonly empty: (text: string) => string;
  readonly rule: string;
  /** Maximum number of rows of a chart. */
  readonly chartRows: number;
}

export interface OutlineTable {
  readonly columns: readonly ShownColumn[];
  /** Cells as shown, not yet escaped. */
  readonly rows: readonly (readonly string[])[];
  /** Numbers of the bars of a chart; undefined if there are none. */
  readonly bars: readonly unknown[] | undefined;
}

/** A report as text: prose as written, charts as tables of numbers. */
export function outlineText(report: Report, style: OutlineStyle): string {
  const { def, heading, params, provenance } = report;
  const chosen = Object.entries(params)
    .filter(([name]) => name !== heading.subject?.name)
    .map(([name, text]) => `- ${name}: ${style.escape(text)}`);
  const parts = [
    style.title(style.escape(fullTitle(heading))),
    def.front.doc,
    style.escape(sourceText(heading, provenance.timezone)),
    ...(heading.subject?.friendly == null ? [] : [style.escape(heading.subject.value)]),
    ...(chosen.length === 0 ? [] : [chosen.join('\n')]),
    ...(provenance.gaps.length === 0 ? [] : [style.gaps(GAPS_TITLE, provenance.gaps.map(style.escape))]),
    ...def.parts.map((part) => (part.kind === 'prose' ? part.text : directiveText(report, part, style))),
    ...footerText(provenance, style),
  ];
  return `${parts.join('\n\n')}\n`;
}

function directiveText(report: Report, directive: Directive, style: OutlineStyle): string {
  const { path } = report.def;
  const result = resultOf(report, directive);
  const { title, doc } = directive.def;
  const head = [style.caption(title), ...(doc === undefined ? [] : [doc])];
  if (result.rows.length === 0) return [...head, style.empty(emptyText(report, directive))].join('\n\n');
  switch (directive.kind) {
    case 'figures': {
      const [row = []] = result.rows;
      const columns = shownColumns(result, directive, path);
      const changes = changesOf(report, directive, columns);
      const items = columns.map((column) => {
        const change = changes.get(column.name);
        const comparison = change === undefined ? '' : ` (${change.text}; ${change.before} before)`;
        return `- ${column.label}: ${style.escape(cellText(row, column))}${comparison}`;
      });
      return [...head, items.join('\n')].join('\n\n');
    }
    case 'table':
      return [
        ...head,
        tableText(result, shownColumns(result, directive, path), directive.def.limit ?? 200, style),
      ].join('\n\n');
    case 'chart': {
      const { mark, x, y } = directive.def;
      const bars = mark === 'barX' ? x : mark === 'bar' ? y[0] : undefined;
      const columns = columnsOfChart(result, directive, path);
      return [...head, tableText(result, columns, style.chartRows, style, bars)].join('\n\n');
    }
  }
}

function tableText(
  { rows }: QueryResult,
  columns: readonly ShownColumn[],
  limit: number,
  style: OutlineStyle,
  bars?: string,
): string {
  const shown = rows.slice(0, limit);
  const at = columns.find(({ name }) => name === bars)?.at;
  const text = style.table({
    columns,
    rows: shown.map((row) => columns.map((column) => cellText(row, column))),
    bars: at === undefined ? undefined : shown.map((row) => row[at]),
  });
  return rows.length > limit ? `${text}\n\n${formatCount(limit)} of ${formatCount(rows.length)} rows.` : text;
}

function footerText(provenance: Provenance, style: OutlineStyle): readonly string[] {
  const coverage = coverageTexts(provenance.coverage, shortSpans).map(
    ({ pipeline, proven, unproven, missing, proof }) =>
      `- ${pipeline}: proven ${proven}; unproven ${unproven}; missing ${missing}; proven by ${proof}`,
  );
  const tables = provenance.tables.map(
    ({ table, rows, keyHash, contentHash }) =>
      `- ${table}: ${formatCount(rows)} rows, content hash ${contentHash ?? 'not taken'}, key hash ${keyHash}`,
  );
  return [
    style.rule,
    createdText(provenance),
    ...[coverage, tables].filter(({ length }) => length > 0).map((list) => list.join('\n')),
  ];
}
