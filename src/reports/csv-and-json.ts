import { formatSpans } from '../core/span.ts';
import { resultWithoutFormulas } from '../sql/formula-guard.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { csvLine, csvRows, jsonRows } from '../sql/row-text.ts';
import { coverageTexts } from './provenance.ts';
import type { Report } from './report.ts';

/**
 * The rows of every block as CSV: a line `# id`, the column names, the rows, and an empty line between blocks. A single block is plain
 * CSV. Text that a spreadsheet would calculate is guarded, because people open these files.
 */
export function csvText({ results }: Report): string {
  const blocks = [...results].map(([id, raw]) => {
    const result = resultWithoutFormulas(raw);
    const lines = [csvLine(result.columns.map(({ name }) => name)), ...csvRows(result)].join('\n');
    return results.size === 1 ? `${lines}\n` : `# ${id}\n${lines}\n`;
  });
  return blocks.join('\n');
}

/** Everything as one JSON object. Integers and decimals keep all their digits. */
export function jsonText({ def, heading, params, results, provenance }: Report): string {
  const { gaps, ...rest } = { ...provenance, coverage: coverageTexts(provenance.coverage, formatSpans) };
  const head = JSON.stringify({ report: def.name, ...heading, params, gaps, ...rest });
  const blocks = [...results].map(([id, result]) => `${JSON.stringify(id)}:${blockText(result)}`);
  return `${head.slice(0, -1)},"blocks":{${blocks.join(',\n')}}}\n`;
}

function blockText(result: QueryResult): string {
  return `{"columns":${JSON.stringify(result.columns)},"rows":[${[...jsonRows(result)].join(',\n')}]}`;
}
