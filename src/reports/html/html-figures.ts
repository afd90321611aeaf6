import { isIdentifier } from '../../sql/identifiers.ts';
import type { QueryResult } from '../../sql/query-result.ts';
import { cellKind, cellText, type ShownColumn, shownText } from '../cells.ts';
import { type Change, changesOf } from '../changes.ts';
import type { Report } from '../report.ts';
import type { FiguresDirective } from '../report-definition.ts';
import { type Html, html, trusted } from './html.ts';

/** The first row of a result as large numbers. */
export function htmlFigures(
  report: Report,
  result: QueryResult,
  directive: FiguresDirective,
  columns: readonly ShownColumn[],
): Html {
  const { of, def } = directive;
  const [row = []] = result.rows;
  const note = def.doc === undefined ? undefined : html`<p class="note">${def.doc}</p>`;
  const changes = changesOf(report, directive, columns);
  const items = columns.map((column) => figure(column, row, changes.get(column.name)));
  return html`<figure data-of="${of}"><figcaption>${def.title}</figcaption>${note}<dl class="figures">${items}</dl></figure>\n`;
}

function figure(column: ShownColumn, row: readonly unknown[], change: Change | undefined): Html {
  const { at, name, type, label } = column;
  const text = cellText(row, column);
  const size = text.length > 26 ? ' class="huge"' : text.length > 10 ? ' class="large"' : '';
  const exact = column.isId ? text : shownText(row[at], type);
  const title = exact === text ? undefined : html` title="${exact}"`;
  const value = html`<dd class="${cellKind(type)}" data-name="${name}"${title}>${
    isIdentifier(text) ? html`<span class="copied">${text}</span>` : breakable(text)
  }</dd>`;
  return html`<div${trusted(size)}><dt>${label}</dt>${value}${change === undefined ? undefined : changeHtml(change)}</div>`;
}

function changeHtml({ direction, text, before }: Change): Html {
  const sign = { up: '▲ ', down: '▼ ', same: '' }[direction];
  return html`<dd class="change">${sign}${text} <span>${before} before</span></dd>`;
}

/** Long numbers break between their groups. */
function breakable(text: string): readonly (string | Html)[] {
  return text.split(/(?<=\d,)(?=\d{3})/).flatMap((group, at) => (at === 0 ? [group] : [trusted('<wbr>'), group]));
}
