import { formatCount } from '../../format.ts';
import type { Footing } from '../footing.ts';
import { madeText } from '../words.ts';
import { type Html, html } from './html.ts';

/** What the report rests on, below it. */
export function htmlFooter(footing: Footing): Html {
  const coverage = footing.coverage.map(
    ({ pipeline, sealed, missing, quarantined, proof }) =>
      html`<tr><th scope="row">${pipeline}</th><td>${sealed}</td><td>${missing}</td><td>${quarantined}</td><td>${proof}</td></tr>\n`,
  );
  const tables = footing.tables.map(
    ({ table, rows, keyHash, contentHash }) =>
      html`<tr><th scope="row">${table}</th><td class="number">${formatCount(rows)}</td><td class="hash">${
        contentHash ?? 'not taken'
      }</td><td class="hash">${keyHash}</td></tr>\n`,
  );
  return html`<footer><p>${madeText(footing)}</p>
<h2>Coverage, in masterchain blocks</h2>
<div class="scroll" role="region" aria-label="Coverage" tabindex="0"><table><thead><tr><th scope="col">pipeline</th><th scope="col">sealed</th><th scope="col">missing</th><th scope="col">quarantined</th><th scope="col">proven by</th></tr></thead>
<tbody>${coverage}</tbody></table></div>
<h2>Tables read</h2>
<div class="scroll" role="region" aria-label="Tables read" tabindex="0"><table><thead><tr><th scope="col">table</th><th scope="col">rows</th><th scope="col">content hash</th><th scope="col">key hash</th></tr></thead>
<tbody>${tables}</tbody></table></div>
</footer>`;
}
