import type { Endpoint } from '../endpoint.ts';
import { cellsOf, columnsOf, rowsOf } from './answer-rows.ts';
import { parseSent, writeSent } from './exact-json.ts';

export type TextFormat = 'json' | 'rows' | 'csv';

/**
 * An answer as text. `json`: as it was sent, or indented; `rows`: one JSON object a line; `csv`: RFC 4180 with nested values as
 * JSON, an empty cell for null and `""` for empty text. Numbers keep all their digits.
 *
 * @throws {DecodeError} when the answer is no JSON or has no rows where they belong
 */
export function formatAnswer(endpoint: Endpoint, body: Buffer, format: TextFormat, indented: boolean): string {
  const answer = parseSent(body, endpoint.path.slice(1));
  switch (format) {
    case 'json':
      return indented ? `${writeSent(answer, 2)}\n` : endLine(body.toString('utf8'));
    case 'rows':
      return rowsOf(endpoint, answer)
        .map((row) => `${writeSent(row)}\n`)
        .join('');
    case 'csv': {
      const columns = columnsOf(endpoint);
      const lines = rowsOf(endpoint, answer).map((row) => cellsOf(columns, row));
      return [columns.map(({ name }) => name), ...lines].map((cells) => `${cells.map(csvCell).join(',')}\n`).join('');
    }
  }
}

function csvCell(cell: string | null): string {
  if (cell === null) return '';
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function endLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
