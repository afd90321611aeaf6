import { formatCount } from '../format.ts';
import type { QueryResult } from '../store/store.ts';
import { cellKind, cellText, type ShownColumn } from './cells.ts';
import { columnsOfChart, shownColumns } from './columns.ts';
import type { Directive } from './definition.ts';
import type { Footing } from './footing.ts';
import { type Report, resultOf } from './report.ts';
import { GAPS_TITLE, madeText } from './words.ts';

/** The report as Markdown: prose as it was written, charts as tables of their numbers. */
export function markdownText(report: Report): string {
  const { def, params, footing } = report;
  const chosen = Object.entries(params).map(([name, text]) => `- ${name}: ${escapeMarkdown(text)}`);
  const gaps = footing.gaps.map((gap) => `> - ${escapeMarkdown(gap)}`);
  const parts = [
    `# ${def.front.title}`,
    def.front.doc,
    ...(chosen.length === 0 ? [] : [chosen.join('\n')]),
    ...(gaps.length === 0 ? [] : [[`> **${GAPS_TITLE}**`, '>', ...gaps].join('\n')]),
    ...def.parts.map((part) => (part.kind === 'prose' ? part.text : directiveText(report, part))),
    ...footerText(footing),
  ];
  return `${parts.join('\n\n')}\n`;
}

function directiveText(report: Report, directive: Directive): string {
  const { path } = report.def;
  const result = resultOf(report, directive);
  const { title, doc } = directive.def;
  const head = [`**${title}**`, ...(doc === undefined ? [] : [doc])];
  if (result.rows.length === 0) return [...head, '*No rows.*'].join('\n\n');
  if (directive.kind === 'figures') {
    const [row = []] = result.rows;
    const items = shownColumns(result, directive, path).map(
      (column) => `- ${column.label}: ${escapeMarkdown(cellText(row, column))}`,
    );
    return [...head, items.join('\n')].join('\n\n');
  }
  const columns =
    directive.kind === 'chart' ? columnsOfChart(result, directive, path) : shownColumns(result, directive, path);
  const limit = directive.kind === 'table' ? (directive.def.limit ?? 200) : 500;
  return [...head, tableText(result, columns, limit)].join('\n\n');
}

function tableText({ rows }: QueryResult, columns: readonly ShownColumn[], limit: number): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const lines = [
    line(columns.map(({ label }) => escapeMarkdown(label))),
    line(columns.map(({ type }) => (cellKind(type) === 'number' ? '---:' : '---'))),
    ...rows.slice(0, limit).map((row) => line(columns.map((column) => escapeMarkdown(cellText(row, column))))),
  ];
  const more = rows.length > limit ? `\n\n${formatCount(limit)} of ${formatCount(rows.length)} rows.` : '';
  return `${lines.join('\n')}${more}`;
}

function footerText(footing: Footing): readonly string[] {
  const coverage = footing.coverage.map(
    ({ pipeline, sealed, missing, quarantined, proof }) =>
      `- ${pipeline}: sealed ${sealed}, missing ${missing}, quarantined ${quarantined}; proven by ${proof}`,
  );
  const tables = footing.tables.map(
    ({ table, rows, keyHash, contentHash }) =>
      `- ${table}: ${formatCount(rows)} rows, content hash ${contentHash ?? 'not taken'}, key hash ${keyHash}`,
  );
  return [
    '---',
    madeText(footing),
    ...[coverage, tables].filter(({ length }) => length > 0).map((list) => list.join('\n')),
  ];
}

/** Text of the chain stays text: no markup, no links, no HTML, no new cell. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\r\n]+/g, ' ')
    .replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? character)
    .replace(/[\\`*_[\]|~]/g, '\\$&')
    .replace(/\b(https?|ftp|mailto|xmpp):/gi, '$1&#58;')
    .replace(/\bwww\./gi, 'www&#46;')
    .replace(/@/g, '&#64;');
}
