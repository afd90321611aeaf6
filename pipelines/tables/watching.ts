import { fromRequest } from 'tonlake/pipeline';

/** When a watch saw a row. */
export const watchColumns = {
  seen_at: fromRequest('timestamp', 'seen_at', 'UTC time when the watch first saw it with the values of this row'),
  _watch_at: fromRequest('timestamp', 'watch_at', 'UTC time when the watch began'),
};
