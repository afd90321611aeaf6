import { formatError, oneLine, StoreError } from '../core/errors.ts';

/** DuckDB's message about a wrong statement, and its line, from 1. */
export interface SqlFault {
  readonly text: string;
  readonly line: number | undefined;
}

/** Parses DuckDB's message, which ends with `LINE 3:`, that line, and a mark below it. */
export function sqlFault(error: unknown): SqlFault {
  const message = oneLine(error instanceof Error ? error.message : String(error)).replace(
    /^store: query: (?:Failed to extract statements: )?/,
    '',
  );
  const [, text = message, line] = /^(.*?)\s*\bLINE (\d+):/.exec(message) ?? [];
  return { text, line: line === undefined ? undefined : Number(line) };
}

/** The wrong line of a query, with a caret below the place, as DuckDB shows them; undefined for other errors and lines. */
export function excerptOf(error: unknown): string | undefined {
  if (!(error instanceof StoreError && error.message.startsWith('store: query: ') && error.cause instanceof Error))
    return undefined;
  return /^LINE \d+: .*\n *\^/m.exec(error.cause.message)?.[0];
}

/** An error as commands print it: one line, and the wrong line of a query below. */
export function errorText(error: unknown): string {
  return `error: ${[formatError(error), excerptOf(error) ?? []].flat().join('\n')}\n`;
}

/** `q.sql:3`, or just the file if the line is unknown. */
export function placeOf(file: string, { line }: SqlFault): string {
  return line === undefined ? file : `${file}:${line}`;
}
