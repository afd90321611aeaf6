import { cellKind } from './cells.ts';
import { type OutlineStyle, outlineText } from './outline.ts';
import type { Report } from './report.ts';

const markdown: OutlineStyle = {
  title: (text) => `# ${text}`,
  caption: (text) => `**${text}**`,
  escape: escapeMarkdown,
  gaps: (title, gaps) => [`> **${title}**`, '>', ...gaps.map((gap) => `> - ${gap}`)].join('\n'),
  table: ({ columns, rows }) => {
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
    return [
      line(columns.map(({ label }) => escapeMarkdown(label))),
      line(columns.map(({ type }) => (cellKind(type) === 'number' ? '---:' : '---'))),
      ...rows.map((cells) => line(cells.map(escapeMarkdown))),
    ].join('\n');
  },
  empty: (text) => `*${text}*`,
  rule: '---',
  chartRows: 500,
};

/** The report as Markdown. */
export function markdownText(report: Report): string {
  return outlineText(report, markdown);
}

/** Escapes text from the chain: no markup, links, HTML or table cells. */
export function escapeMarkdown(text: string): string {
  return text
    .replace(/[\r\n]+/g, ' ')
    .replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? character)
    .replace(/[\\`*_[\]|~]/g, '\\$&')
    .replace(/\b(https?|ftp|mailto|xmpp):/gi, '$1&#58;')
    .replace(/\bwww\./gi, 'www&#46;')
    .replace(/@/g, '&#64;');
}
