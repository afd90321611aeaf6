import type { QueryResult } from '../../store/store.ts';
import { cellKind, cellText, type ShownColumn } from '../cells.ts';
import type { Directive } from '../definition.ts';
import { type Html, html, trusted } from './html.ts';

/** The first row of a result as numbers to see at a glance. */
export function htmlFigures(
  result: QueryResult,
  { of, def }: Extract<Directive, { kind: 'figures' }>,
  columns: readonly ShownColumn[],
): Html {
  const [row] = result.rows;
  const note = def.doc === undefined ? undefined : html`<p class="note">${def.doc}</p>`;
  if (row === undefined)
    return html`<figure><figcaption>${def.title}</figcaption>${note}<p class="empty">No rows.</p></figure>\n`;
  const items = columns.map((column) => figure(column, cellText(row, column)));
  return html`<figure data-of="${of}"><figcaption>${def.title}</figcaption>${note}<dl class="figures">${items}</dl></figure>\n`;
}

function figure({ name, type, label }: ShownColumn, text: string): Html {
  const size = text.length > 26 ? ' class="huge"' : text.length > 10 ? ' class="large"' : '';
  const value = html`<dd class="${cellKind(type)}" data-name="${name}">${breakable(text)}</dd>`;
  return html`<div${trusted(size)}><dt>${label}</dt>${value}</div>`;
}

/** Long numbers break between their groups. */
function breakable(text: string): readonly (string | Html)[] {
  return text.split(/(?<=\d,)(?=\d{3})/).flatMap((group, at) => (at === 0 ? [group] : [trusted('<wbr>'), group]));
}
