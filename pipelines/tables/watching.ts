import { fromAsk } from 'tonlake/pipeline';

/** When a watch saw a row, and what became of it. */
export const watchColumns = {
  first_seen: fromAsk('timestamp', 'first_seen', 'UTC time when the watch first saw it'),
  last_seen: fromAsk('timestamp', 'last_seen', 'UTC time when the watch last saw it, with the values of this row'),
  outcome: fromAsk(
    'text',
    'outcome',
    'null until its trace is complete, then on_chain, dropped or replaced (another transaction consumed the message, or came from the same sender with the same opcode); null for transactions of a trace that is too large for the index to list them',
  ).nullable(),
  _watch_at: fromAsk('timestamp', 'watch_at', 'UTC time when the watch began'),
};
