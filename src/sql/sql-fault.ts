import { oneLine } from '../core/errors.ts';

/** What DuckDB says of a wrong statement, and the line that it names, from 1. */
export interface SqlFault {
  readonly text: string;
  readonly line: number | undefined;
}

/** Takes DuckDB's message apart: it ends with `LINE 3:`, that line, and a mark below it. */
export function sqlFault(error: unknown): SqlFault {
  const message = oneLine(error instanceof Error ? error.message : String(error)).replace(/^store: query: /, '');
  const [, text = message, line] = /^(.*?)\s*\bLINE (\d+):/.exec(message) ?? [];
  return { text, line: line === undefined ? undefined : Number(line) };
}

/** `q.sql:3`, or the file alone where no line is known. */
export function placeOf(file: string, { line }: SqlFault): string {
  return line === undefined ? file : `${file}:${line}`;
}
