import { quoteText } from './canonical-text.ts';
import type { Query } from './query-result.ts';

/** Does `work`; if it exceeds DuckDB's memory limit, does it once more with a limit of 2 GB, so that a large span does not fail. */
export async function withMemory<T>(query: Query, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('Out of Memory Error'))) throw error;
    const { rows } = await query("SELECT current_setting('memory_limit')");
    await query("SET memory_limit = '2GB'");
    try {
      return await work();
    } finally {
      // DuckDB cuts the text off after the tenths: the limit would shrink each time.
      const limit = String(rows[0]?.[0]).replace(/(\.\d)(?= )/, '$15');
      // Fails while more than that is in use. What was done is done, and the limit stays wide.
      await query(`SET memory_limit = ${quoteText(limit)}`).catch(() => undefined);
    }
  }
}
