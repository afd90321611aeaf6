import { csvLine, type TextFormat } from '../../sql/row-text.ts';
import type { Endpoint } from '../endpoint.ts';
import { parseSent, writeSent } from './exact-json.ts';
import { cellsOf, columnsOf, rowsOf } from './response-rows.ts';

/**
 * A response as text. `json`: as received, or indented; `jsonl`: its rows, an object per line; `csv`: RFC 4180 with nested values as JSON, an
 * empty cell for null and `""` for empty text. Numbers keep all digits.
 *
 * @throws {DecodeError} if the response is not JSON or has no rows
 */
export function formatAnswer(endpoint: Endpoint, body: Buffer, format: TextFormat, indented: boolean): string {
  const answer = parseSent(body, endpoint.path.slice(1));
  switch (format) {
    case 'json':
      return indented ? `${writeSent(answer, 2)}\n` : endLine(body.toString('utf8'));
    case 'jsonl':
      return rowsOf(endpoint, answer)
        .map((row) => `${writeSent(row)}\n`)
        .join('');
    case 'csv': {
      const columns = columnsOf(endpoint);
      const lines = rowsOf(endpoint, answer).map((row) => cellsOf(columns, row));
      return [columns.map(({ name }) => name), ...lines].map((cells) => `${csvLine(cells)}\n`).join('');
    }
  }
}

function endLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
