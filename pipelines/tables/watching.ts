import { fromAsk } from 'tonlake/pipeline';

/** When a watch saw a row. */
export const watchColumns = {
  seen_at: fromAsk('timestamp', 'seen_at', 'UTC time when the watch first saw it with the values of this row'),
  _watch_at: fromAsk('timestamp', 'watch_at', 'UTC time when the watch began'),
};
