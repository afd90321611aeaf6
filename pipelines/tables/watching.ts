import { fromAsk } from 'tonlake/pipeline';

/** When a watch saw a row, and what became of it. */
export const watchColumns = {
  first_seen: fromAsk('timestamp', 'first_seen', 'UTC time at which the watch saw it first'),
  last_seen: fromAsk('timestamp', 'last_seen', 'UTC time at which the watch saw it last, with the values of this row'),
  outcome: fromAsk(
    'text',
    'outcome',
    'once its trace is complete: on_chain; replaced, where another transaction consumed the message, or came from the same sender with the same opcode; dropped; null before',
  ).nullable(),
  _watch_at: fromAsk('timestamp', 'watch_at', 'UTC time at which the watch began'),
};
