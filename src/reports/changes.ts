import { cellKind, cellText, drawnNumber, type ShownColumn } from './cells.ts';
import type { Report } from './report.ts';
import type { FiguresDirective } from './report-definition.ts';

/** Change of a figure compared with the previous period. */
export interface Change {
  readonly direction: 'up' | 'down' | 'same';
  /** `+4.2 %`, `new` if it was zero before, or `unchanged`. */
  readonly text: string;
  /** The previous number, as shown. */
  readonly before: string;
}

/** The changes of figures by column; none if the previous period has no row. */
export function changesOf(
  { results }: Report,
  { of, def }: FiguresDirective,
  columns: readonly ShownColumn[],
): ReadonlyMap<string, Change> {
  const now = results.get(of)?.rows[0];
  const before = def.before === undefined ? undefined : results.get(def.before);
  const earlier = before?.rows[0];
  const changes = new Map<string, Change>();
  if (now === undefined || before === undefined || earlier === undefined) return changes;
  for (const column of columns) {
    const at = before.columns.findIndex(({ name }) => name === column.name);
    if (at < 0 || cellKind(column.type) !== 'number') continue;
    const [to, from] = [drawnNumber(now[column.at]), drawnNumber(earlier[at])];
    if (!Number.isFinite(to) || !Number.isFinite(from)) continue;
    changes.set(column.name, { ...changeOf(from, to), before: cellText(earlier, { ...column, at }) });
  }
  return changes;
}

function changeOf(from: number, to: number): Omit<Change, 'before'> {
  if (from === to) return { direction: 'same', text: 'unchanged' };
  const direction = to > from ? 'up' : 'down';
  if (from === 0) return { direction, text: 'new' };
  const percent = (100 * (to - from)) / Math.abs(from);
  const size = Math.abs(percent);
  if (size >= 1000) return { direction, text: `${(to / from).toFixed(1)} times` };
  return { direction, text: `${direction === 'up' ? '+' : '−'}${size < 0.1 ? '<0.1' : size.toFixed(1)} %` };
}
