import type { ChartChoice } from './draw-chart.ts';

const LINE = /^-- chart: (.*)$/m;

/** A query that says in its last line how it is drawn. */
export function withChart(sql: string, { mark, x, y, color }: ChartChoice): string {
  return `${sql.replace(LINE, '').trimEnd()}\n-- chart: ${JSON.stringify({ mark, x, y, color })}\n`;
}

/** How a saved query is drawn; undefined if it does not say. */
export function chartIn(sql: string): ChartChoice | undefined {
  try {
    const { mark, x, y, color } = JSON.parse(LINE.exec(sql)?.[1] ?? '');
    if (![x, y, color].every((name) => typeof name === 'string') || !['line', 'bar', 'dot'].includes(mark))
      return undefined;
    return { mark, x, y, color };
  } catch {
    return undefined;
  }
}
