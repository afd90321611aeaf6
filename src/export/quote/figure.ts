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
