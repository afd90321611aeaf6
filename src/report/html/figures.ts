import type { QueryResult } from '../../store/store.ts';
import { cellKind, type ShownColumn, shownText } from '../cells.ts';
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
  const items = columns.map(
    ({ at, name, type, label }) =>
      html`<div><dt>${label}</dt><dd class="${cellKind(type)}" data-name="${name}">${breakable(shownText(row[at], type))}</dd></div>`,
  );
  return html`<figure data-of="${of}"><figcaption>${def.title}</figcaption>${note}<dl class="figures">${items}</dl></figure>\n`;
}

/** Long numbers break between their groups. */
function breakable(text: string): readonly (string | Html)[] {
  return text.split(/(?<=\d,)(?=\d{3})/).flatMap((group, at) => (at === 0 ? [group] : [trusted('<wbr>'), group]));
}
