export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Some of a list, spread evenly over it. */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  const at = (i: number) => Math.floor((all.length * (2 * i + 1)) / (2 * count));
  return Array.from({ length: Math.min(count, all.length) }, (_, i) => all[at(i)] as T);
}

/** Half the width of the 95 % band of the mean of some values. */
export function bandOfMean(values: readonly number[]): number {
  const middle = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / Math.max(1, values.length - 1);
  return 1.96 * Math.sqrt(variance / Math.max(1, values.length));
}

/** Relative uncertainty of the rows of a single window. */
const ROUGHLY = 0.06;

/**
 * A number of requests that depends on an uncertain number of rows.
 *
 * @param requestsAt number of requests if the rows are those of the sample times a factor
 * @param doubt relative uncertainty of all rows
 */
export async function roughly(requestsAt: (factor: number) => Promise<number>, doubt: number) {
  const nearby: number[] = [];
  for (const by of [-1, -0.5, 0, 0.5, 1]) nearby.push(await requestsAt(1 + by * ROUGHLY));
  const value = mean(nearby);
  const extremes = [...nearby, await requestsAt(1 - doubt), await requestsAt(1 + doubt)];
  return { value, band: Math.max(...extremes.map((each) => Math.abs(each - value))) };
}
