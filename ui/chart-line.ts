import type { ChartChoice } from './draw-chart.ts';

const LINE = /^-- chart: (.*)$/m;

/** A query with its chart as a comment in the last line. */
export function withChart(sql: string, { mark, x, y, color }: ChartChoice): string {
  return `${sql.replace(LINE, '').trimEnd()}\n-- chart: ${JSON.stringify({ mark, x, y, color })}\n`;
}

/** The chart of a saved query; undefined if it has none. */
export function chartIn(sql: string): ChartChoice | undefined {
  try {
    const { mark, x, y, color } = JSON.parse(LINE.exec(sql)?.[1] ?? '');
    const names = Array.isArray(y) ? [x, color, ...y] : [undefined];
    const isKnown = names.every((name) => typeof name === 'string') && ['line', 'bar', 'dot'].includes(mark);
    return isKnown ? { mark, x, y, color } : undefined;
  } catch {
    return undefined;
  }
}
