/** A number that is not known, and how far off it may be: it lies between `value - band` and `value + band`. */
export interface Figure {
  readonly value: number;
  readonly band: number;
}

export const NONE: Figure = { value: 0, band: 0 };

export function exactly(value: number): Figure {
  return { value, band: 0 };
}

export function sumOf(figures: readonly Figure[]): Figure {
  return figures.reduce((sum, { value, band }) => ({ value: sum.value + value, band: sum.band + band }), NONE);
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Half the width of the 95 % band of the mean of some values. */
export function bandOfMean(values: readonly number[]): number {
  const middle = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / Math.max(1, values.length - 1);
  return 1.96 * Math.sqrt(variance / Math.max(1, values.length));
}

/** Requests that a window with so many rows takes: one that fills a page is asked for in halves. */
export function requestsOfWindow(rows: number, page = 1000): number {
  return rows < page ? 1 : 1 + 2 * requestsOfWindow(rows / 2, page);
}

/** How far the rows of a window may be from what a sample tells. */
const ROUGHLY = 0.06;

/**
 * Requests of some windows of logical time whose rows are told by a sample: each rate is that of one stretch, and how far they are
 * apart tells the band.
 *
 * @param rows rows of a window at each stretch
 */
export function windowRequests(count: number, rows: readonly number[]): Figure {
  const costOf = (factor: number): number => mean(rows.map((each) => requestsOfWindow(each * factor)));
  const nearby = [1 - ROUGHLY, 1 - ROUGHLY / 2, 1, 1 + ROUGHLY / 2, 1 + ROUGHLY].map(costOf);
  const value = mean(nearby) * count;
  const spread = bandOfMean(rows.map((each) => requestsOfWindow(each))) * count;
  const drift = Math.max(...nearby.map((each) => Math.abs(each * count - value)));
  return { value, band: Math.max(spread, drift) };
}
