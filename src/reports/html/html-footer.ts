import { formatCount } from '../../core/format.ts';
import { shortSpans } from '../../core/span.ts';
import { madeText } from '../phrases.ts';
import { coverageTexts, type Provenance } from '../provenance.ts';
import { type Html, html } from './html.ts';
import { textHtml } from './html-table.ts';

/** The data behind the report, below it. */
export function htmlFooter(provenance: Provenance): Html {
  const coverage = coverageTexts(provenance.coverage, shortSpans).map(
    ({ pipeline, sealed, missing, quarantined, proof }) =>
      html`<tr><th scope="row">${pipeline}</th><td>${textHtml(sealed)}</td><td>${textHtml(missing)}</td><td>${textHtml(quarantined)}</td><td>${proof}</td></tr>\n`,
  );
  const tables = provenance.tables.map(
    ({ table, rows, keyHash, contentHash }) =>
      html`<tr><th scope="row">${table}</th><td class="number">${formatCount(rows)}</td><td class="hash">${
        contentHash ?? 'not taken'
      }</td><td class="hash">${keyHash}</td></tr>\n`,
  );
  return html`<footer><p>${madeText(provenance)}</p>
${section('Coverage, in masterchain blocks', ['pipeline', 'sealed', 'missing', 'quarantined', 'proven by'], coverage)}${section(
  'Tables read',
  ['table', 'rows', 'content hash', 'key hash'],
  tables,
)}</footer>`;
}

function section(title: string, heads: readonly string[], rows: readonly Html[]): Html | undefined {
  if (rows.length === 0) return undefined;
  return html`<h2>${title}</h2>
<div class="scroll" role="region" aria-label="${title}" tabindex="0"><table><thead><tr>${heads.map(
    (head) => html`<th scope="col">${head}</th>`,
  )}</tr></thead>
<tbody>${rows}</tbody></table></div>
`;
}
