import { formatCount } from '../../core/format.ts';
import { shortSpans } from '../../core/span.ts';
import { isIdentifier } from '../../sql/identifiers.ts';
import type { QueryResult } from '../../sql/query-result.ts';
import { cellKind, cellText, type ShownColumn, shownText } from '../cells.ts';
import { type Change, changesOf } from '../changes.ts';
import { fullTitle, type Heading, sourceText } from '../heading.ts';
import { coverageTexts, createdText, GAPS_TITLE, type Provenance } from '../provenance.ts';
import { emptyText, type Report, resultOf } from '../report.ts';
import type { Directive, FiguresDirective } from '../report-definition.ts';
import { shownColumns } from '../shown-columns.ts';
import { type Html, html, trusted } from './html.ts';
import { htmlChart } from './html-chart.ts';
import { htmlTable, textHtml } from './html-table.ts';
import { pageScript, pageScriptSource } from './page-script.ts';
import { pageStyle } from './page-style.ts';
import { openPlotter, type Plotter } from './plot.ts';

/** The report as one self-contained file: its policy forbids all requests, and all scripts except its own. */
export async function htmlPage(report: Report): Promise<string> {
  const [{ default: MarkdownIt }, plotter] = await Promise.all([import('markdown-it'), openPlotter()]);
  // No HTML, and no images, which would cause requests.
  const markdown = new MarkdownIt({ html: false }).disable('image');
  const parts = report.def.parts.map((part) =>
    part.kind === 'prose' ? trusted(markdown.render(part.text)) : htmlDirective(report, part, plotter),
  );
  return page(report, parts).text;
}

function htmlDirective(report: Report, directive: Directive, plotter: Plotter): Html {
  const result = resultOf(report, directive);
  const { path } = report.def;
  const { title, doc } = directive.def;
  const note = doc === undefined ? undefined : html`<p class="note">${doc}</p>`;
  if (result.rows.length === 0)
    return html`<figure><figcaption>${title}</figcaption>${note}<p class="empty">${emptyText(report, directive)}</p></figure>\n`;
  const framed = (content: Html): Html =>
    html`<figure data-of="${directive.of}"><figcaption>${title}</figcaption>${note}${content}</figure>\n`;
  switch (directive.kind) {
    case 'chart':
      return html`${htmlChart(result, directive, path, plotter)}\n`;
    case 'figures':
      return framed(htmlFigures(report, result, directive));
    case 'table': {
      const { limit = 200 } = directive.def;
      const columns = shownColumns(result, directive, path);
      return framed(htmlTable(result, { title, columns, limit }));
    }
  }
}

/** The first row of a result as large numbers. */
function htmlFigures(report: Report, result: QueryResult, directive: FiguresDirective): Html {
  const [row = []] = result.rows;
  const columns = shownColumns(result, directive, report.def.path);
  const changes = changesOf(report, directive, columns);
  return html`<dl class="figures">${columns.map((column) => figure(column, row, changes.get(column.name)))}</dl>`;
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

function page({ def, heading, params, provenance }: Report, parts: readonly Html[]): Html {
  const { title, doc } = def.front;
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src ${pageScriptSource}; base-uri 'none'; form-action 'none'`;
  const chosen = Object.entries(params)
    .filter(([name]) => name !== heading.subject?.name)
    .map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`);
  const gaps = provenance.gaps.map((gap) => html`<li>${gap}</li>`);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${fullTitle(heading)}</title>
<style>${trusted(pageStyle)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${subjectHtml(heading)}<p class="lead">${doc}</p>
<p class="source">${sourceText(heading, provenance.timezone)}</p>
${chosen.length === 0 ? undefined : html`<dl class="params">${chosen}</dl>\n`}${
  gaps.length === 0
    ? undefined
    : html`<section class="gaps" role="alert"><p>${GAPS_TITLE}</p><ul>${gaps}</ul></section>\n`
}${parts}${htmlFooter(provenance)}
</main>
<script>${trusted(pageScript)}</script>
</body>
</html>
`;
}

/** The full subject of the report: an address in both forms. */
function subjectHtml({ subject }: Heading): Html | undefined {
  if (subject === null) return undefined;
  const forms = [subject.friendly, subject.value].filter((form) => form !== null);
  return html`${forms.map((form) => html`<p class="subject"><span class="copied">${form}</span></p>\n`)}`;
}

/** The data behind the report, below it. */
function htmlFooter(provenance: Provenance): Html {
  const coverage = coverageTexts(provenance.coverage, shortSpans).map(
    ({ pipeline, proven, unproven, missing, proof }) =>
      html`<tr><th scope="row">${pipeline}</th><td>${textHtml(proven)}</td><td>${textHtml(unproven)}</td><td>${textHtml(missing)}</td><td>${proof}</td></tr>\n`,
  );
  const tables = provenance.tables.map(
    ({ table, rows, keyHash, contentHash }) =>
      html`<tr><th scope="row">${table}</th><td class="number">${formatCount(rows)}</td><td class="hash">${
        contentHash ?? 'not taken'
      }</td><td class="hash">${keyHash}</td></tr>\n`,
  );
  return html`<footer><p>${createdText(provenance)}</p>
${section('Coverage, in masterchain blocks', ['pipeline', 'proven', 'unproven', 'missing', 'proven by'], coverage)}${section(
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
