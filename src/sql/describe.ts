import type { Query, Stream } from './query-result.ts';

/** A column of a select: its name, distinct from all others, and DuckDB's name of its type. */
export interface DescribedColumn {
  readonly name: string;
  readonly type: string;
}

/** The columns of a select. Errors show it as it was written. */
export async function describeSelect(
  { query, stream }: { readonly query: Query; readonly stream: Stream },
  select: string,
  parameters: Parameters<Query>[1],
): Promise<readonly DescribedColumn[]> {
  try {
    const { rows } = await query(`DESCRIBE SELECT * FROM (${select}\n)`, parameters);
    return rows.map(([name, type]) => ({ name: String(name), type: String(type) }));
  } catch (error) {
    await stream(select, parameters, async () => undefined);
    throw error;
  }
}
