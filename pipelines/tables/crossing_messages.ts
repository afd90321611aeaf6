/**
 * FROM and WHERE of the messages between two accounts that have one end in the exported range: the transaction at their other end is not
 * there.
 */
export const crossingMessages = `FROM messages AS one
    WHERE source IS NOT NULL AND destination IS NOT NULL AND tx_mc_block_seqno BETWEEN $from AND $to
      AND NOT EXISTS (SELECT 1 FROM messages AS other WHERE other.msg_hash = one.msg_hash AND other.direction <> one.direction)`;
