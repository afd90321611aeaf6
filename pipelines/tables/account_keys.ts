/** Lookup keys: the accounts in the transactions of the range, each with the last block that changed it. */
export function accountsAs(column: string): string {
  return `SELECT account AS ${column}, max(mc_block_seqno) AS seqno FROM transactions
    WHERE mc_block_seqno BETWEEN $from AND $to GROUP BY account`;
}
