import { expect, test } from 'vitest';
import { StoreAccessError } from '../../src/core/errors.ts';
import { remoteFailure } from '../../src/sql/remote-failure.ts';

const FILE = 'http://127.0.0.1:9000/lake/w/tables/blocks/block_date%3D2026-05-01/1000-1009-aa2d295c9c02.parquet';
const refused = (status: string, name: string): string =>
  `HTTP Error: HTTP GET error reading '${FILE}' in region 'us-east-1' (HTTP ${status})\n\n${name}: told to fail\n\nAuthentication Failure - this is usually caused by invalid or missing credentials.`;
const unanswered = (said: string): string => `IO Error: ${said} error for HTTP HEAD to '${FILE}'\n\nLINE 1: SELECT 1`;

test.each([
  [refused('403 Forbidden', 'AccessDenied'), 'denied', false],
  [refused('403 Forbidden', 'RequestTimeTooSkewed'), 'clock-skew', false],
  [refused('400 Bad Request', 'ExpiredToken'), 'expired-credentials', false],
  [`HTTP Error: Request returned HTTP 503 for HTTP HEAD to '${FILE}'`, 'store-busy', true],
  [`HTTP Error: Request returned HTTP 403 for HTTP HEAD to '${FILE}'`, 'denied', false],
  [unanswered('Server returned nothing (no headers, no data)'), 'connection-lost', true],
  [unanswered('Could not connect to server'), 'unreachable', true],
  [unanswered('Could not resolve hostname'), 'unreachable', true],
])('%s is no damage of the file', (text, code, retryable) => {
  const failure = remoteFailure(new Error(text));
  expect(failure).toBeInstanceOf(StoreAccessError);
  expect(failure).toMatchObject({ code, retryable, hint: expect.stringMatching(/./) });
  expect(failure?.message).toMatch(/^store: read http:\/\/127\.0\.0\.1:9000\/lake\/w\/tables\/\S+: [^\n]+$/);
});

test.each([
  `HTTP Error: HTTP GET error reading 's3://lake/w/${FILE.slice(30)}' in region 'us-east-1' (HTTP 404 Not Found)`,
  `HTTP Error: HTTP GET error reading '${FILE}' in region 'us-east-1' (HTTP 416 Requested Range Not Satisfiable)`,
  `Invalid Input Error: No magic bytes found at end of file '${FILE}'`,
  `IO Error: No files found that match the pattern "${FILE}"`,
  `Binder Error: Referenced column "x" not found LINE 1: SELECT 'HTTP 503 ${FILE}'`,
  'Out of Memory Error: could not allocate block',
])('%s is an answer, or about something else', (text) => {
  expect(remoteFailure(new Error(text))).toBeUndefined();
});
