import { formatCount } from '../../core/format.ts';
import { isIdentifier } from '../../sql/identifiers.ts';
import type { QueryResult } from '../../sql/query-result.ts';
import { textOf } from '../../sql/row-text.ts';
import { cellKind, cellText, rankRows, type ShownColumn, shownText } from '../cells.ts';
import { type Html, html } from './html.ts';

export interface TableOptions {
  readonly title: string;
  readonly columns: readonly ShownColumn[];
  /** Maximum number of rows. */
  readonly limit: number;
}

/** Text lengths above which a text is wrapped, or collapsed. */
const LINE = 40;
const PARAGRAPH = 160;

/** A sortable table. It scrolls sideways in its box, so that the page never does. */
export function htmlTable(result: QueryResult, { title, columns, limit }: TableOptions): Html {
  const shown = { columns: result.columns, rows: result.rows.slice(0, limit) };
  const ranks = columns.map(({ at }) => rankRows(shown, at));
  const heads = columns.map(
    ({ label, type }) =>
      html`<th scope="col" aria-sort="none" class="${cellKind(type)}"><button type="button">${label}</button></th>`,
  );
  const rows = shown.rows.map(
    (row, index) => html`<tr>${columns.map((column, at) => cell(row, column, ranks[at]?.[index]))}</tr>\n`,
  );
  const more =
    result.rows.length > limit
      ? html`<p class="note">${formatCount(limit)} of ${formatCount(result.rows.length)} rows; csv and json have all.</p>`
      : undefined;
  return html`<div class="scroll" role="region" aria-label="${title}" tabindex="0"><table class="sortable" aria-label="${title}">
<thead><tr>${heads}</tr></thead>
<tbody>${rows}</tbody></table></div>${more}`;
}

function cell(row: readonly unknown[], column: ShownColumn, rank: number | null | undefined): Html {
  const text = cellText(row, column);
  const kind = cellKind(column.type);
  const isLong = kind === 'text' && isIdentifier(textOf(row[column.at]) ?? '');
  const look = kind === 'text' && !isLong && text.length > LINE ? 'text free' : kind;
  const exact = kind === 'number' && !column.isId ? shownText(row[column.at], column.type) : text;
  const title = exact === text ? undefined : html` title="${exact}"`;
  const content = isLong ? html`<span class="long copied" title="${text}">${text}</span>` : textHtml(text);
  return html`<td class="${look}" data-rank="${rank ?? ''}"${title}>${content}</td>`;
}

/** A text; a long one is collapsed to its beginning. */
export function textHtml(text: string): string | Html {
  if (text.length <= PARAGRAPH) return text;
  const letters = [...text.slice(0, PARAGRAPH)].slice(0, PARAGRAPH / 2).join('');
  return html`<details class="whole"><summary>${letters}…</summary>${text}</details>`;
}
