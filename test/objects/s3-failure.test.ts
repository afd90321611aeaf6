import { expect, test } from 'vitest';
import { FirstResponse } from '../../src/objects/s3-client.ts';
import { NoResponseError, objectFailure } from '../../src/objects/s3-failure.ts';

const named = (name: string, message = 'said', status?: number) =>
  Object.assign(new Error(message), { name }, status === undefined ? {} : { $metadata: { httpStatusCode: status } });
const coded = (code: string) => Object.assign(new Error(`write ${code}`), { code });
const PAGE =
  '@aws-sdk XML parse error: mismatched tags <meta> and </head>. Deserialization error: to see the raw response';

test.each([
  ['an unknown key at versitygw', named('XAdminUserNotFound', 'no user', 404), 'bad-credentials', false],
  ['HTTP instead of TLS', coded('EPROTO'), 'unreachable', false],
  ['a wrong certificate', coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'unreachable', false],
  ['the page of a web server', named('Error', PAGE, 404), 'not-s3', false],
  ['the page of a proxy', named('Error', PAGE, 502), 'store-busy', true],
  ['a server that hangs up', named('TimeoutError', 'socket hang up'), 'connection-lost', true],
  ['a quota', named('QuotaExceeded', 'full', 403), 'bucket-full', false],
  ['no server', coded('ECONNREFUSED'), 'unreachable', true],
  ['no server, given up', new NoResponseError(coded('ECONNREFUSED')), 'unreachable', true],
])('%s is told in one line with a hint', (_, error, code, retryable) => {
  const failure = objectFailure(error, 's3://lake/w: get k');
  expect(failure).toMatchObject({ code, retryable, hint: expect.stringMatching(/./) });
  expect(failure.message).toMatch(/^store: s3:\/\/lake\/w: get k: [^\n]*$/);
  expect(failure.message).not.toContain('@aws-sdk');
});

test('a server that never answers is overdue after five seconds, one that did is not', () => {
  let now = 1000;
  const [silent, answered] = [new FirstResponse(() => now), new FirstResponse(() => now)];
  expect(silent.isOverdue).toBe(false);
  for (const first of [silent, answered]) first.begin();
  now += 4999;
  expect(silent.isOverdue).toBe(false);
  answered.received();
  now += 1;
  silent.begin();
  expect([silent.isOverdue, answered.isOverdue]).toEqual([true, false]);
});
