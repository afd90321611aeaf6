import { DecodeError } from '../core/errors.ts';
import { page } from './page-buffer.ts';

/** The error for a page that is JSON, but not of the declared shape. `place` is a JSON pointer. */
export function wrongShape(pipeline: string, expected: string, place = ''): DecodeError {
  const at = place === '' ? '' : ` at ${place}`;
  return new DecodeError(`decode ${pipeline}: expected ${expected}${at}, got something else`, {
    code: 'wrong-shape',
    hint: 'is this the base URL of a TON Index v3 API?',
  });
}

/** The error for a page that is not JSON; retryable, because it may be truncated. */
export function notJson(pipeline: string, bytes: Uint8Array): DecodeError {
  const start = Buffer.from(bytes.subarray(0, 60)).toString('utf8').replace(/\s+/g, ' ');
  return new DecodeError(
    `decode ${pipeline}: expected JSON, got ${bytes.length} bytes that are not JSON from byte ${page.brokenAt} on: ${start}`,
    { code: 'not-json', retryable: true },
  );
}
