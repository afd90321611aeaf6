import { formatCount } from '../../format.ts';
import type { QueryResult } from '../../store/store.ts';
import { cellKind, cellText, exactText, rankRows, type ShownColumn } from '../cells.ts';
import { type Html, html } from './html.ts';

export interface TableOptions {
  readonly title: string;
  readonly columns: readonly ShownColumn[];
  /** Rows shown at most. */
  readonly limit: number;
}

/** Raw addresses and hashes: wider than a phone, and told apart by their beginning. */
const LONG = /^(-?\d+:[0-9A-F]{64}|[A-Za-z0-9+/]{43}=|[0-9a-f]{32,})$/;

/** Texts beyond so many letters may break. */
const LINE = 40;

/** A table that the page's script sorts; its box scrolls sideways, the page never does. */
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
  const isLong = LONG.test(exactText(row[column.at]) ?? '');
  const kind = cellKind(column.type);
  const look = kind === 'text' && !isLong && text.length > LINE ? 'text free' : kind;
  const content = isLong ? html`<span class="long" title="${text}">${text}</span>` : text;
  return html`<td class="${look}" data-rank="${rank ?? ''}">${content}</td>`;
}
