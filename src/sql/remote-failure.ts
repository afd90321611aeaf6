import { oneLine, type StoreError } from '../core/errors.ts';
import { objectFailure } from '../objects/s3-failure.ts';

const ADDRESS = /'((?:s3|https?):\/\/[^'?]+)'/;
const STATUS = /\bHTTP (\d{3})\b/;
/** The name of the service's error, which follows the status. */
const NAME = /\(HTTP \d{3}[^)]*\)\s+(\w+):/;
/** A request without an answer, in the words of curl. */
const UNANSWERED = /^(?:IO|HTTP) Error: (.*?)(?: error)? for HTTP \w+ to '/;
/** The object is not there, or is shorter than the ledger says: that is an answer. */
const ABSENT = new Set(['404', '416']);

/** What DuckDB says if an object store did not let it read; undefined for anything else. */
export function remoteFailure(error: unknown): StoreError | undefined {
  const text = oneLine(error instanceof Error ? error.message : '');
  if (!/^(IO|HTTP) Error: /.test(text)) return undefined;
  const [, address] = ADDRESS.exec(text) ?? [];
  if (address === undefined) return undefined;
  const [, status] = STATUS.exec(text) ?? [];
  if (status !== undefined) {
    if (ABSENT.has(status)) return undefined;
    const [, name = ''] = NAME.exec(text) ?? [];
    return objectFailure({ name, code: status, message: `HTTP ${status}` }, `read ${address}`);
  }
  const [, said] = UNANSWERED.exec(text) ?? [];
  if (said === undefined) return undefined;
  const code = /^could not (connect|resolve)/i.test(said) ? 'ECONNREFUSED' : 'ECONNRESET';
  return objectFailure({ code, message: said }, `read ${address}`);
}
