import { oneLine, type StoreError } from '../core/errors.ts';
import { objectFailure } from '../objects/s3-failure.ts';

const ADDRESS = /'((?:s3|https?):\/\/[^'?]+)'/;
const STATUS = /\bHTTP (\d{3})\b/;
/** The name of the service's error, which follows the status. */
const NAME = /\(HTTP \d{3}[^)]*\)\s+(\w+):/;
/** A request without a response, in curl's words. */
const NO_RESPONSE = /^(?:IO|HTTP) Error: (.*?)(?: error)? for HTTP \w+ to '/;
/** The object is missing, or shorter than the ledger says: not a failure of the store. */
const ABSENT = new Set(['404', '416']);

/** DuckDB's error about a read that an object store failed; undefined for other errors. */
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
  const [, reason] = NO_RESPONSE.exec(text) ?? [];
  if (reason === undefined) return undefined;
  const code = /^could not (connect|resolve)/i.test(reason) ? 'ECONNREFUSED' : 'ECONNRESET';
  return objectFailure({ code, message: reason }, `read ${address}`);
}
