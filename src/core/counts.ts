/** Numbers by name, such as rows by table. */
export type Counts = Readonly<Record<string, number>>;

/** The sum of each name. */
export function addCounts(a: Counts, b: Counts): Counts {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
