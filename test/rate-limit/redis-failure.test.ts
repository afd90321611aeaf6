import { expect, test } from 'vitest';
import { redisFailure } from '../../src/redis/redis-connection.ts';

const address = {
  ...{ shown: 'redis://127.0.0.1:6379', host: '127.0.0.1', port: 6379, database: 0, isTls: false },
  ...{ username: undefined, password: undefined },
};
const reply = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });
const broken = (code: string, message = 'socket'): Error => Object.assign(new Error(message), { code });

test.each([
  [reply('WRONGPASS invalid username-password pair or user is disabled.'), 'redis-login', 'a refused password'],
  [reply('ERR AUTH <password> called without any password configured'), 'redis-login', 'a refused password'],
  [reply('NOAUTH Authentication required.'), 'redis-login', 'a demand for a password'],
  [
    reply("NOPERM User app has no permissions to run the 'eval' command"),
    'redis-login',
    'a user without the right to do it',
  ],
  [
    reply('ERR Error running script (call to f_1): @user_script:7: -OOM command not allowed'),
    ...(['redis-full', 'a server that cannot write'] as const),
  ],
  [reply('MOVED 3999 127.0.0.1:6381'), 'redis-kind', 'a node of a cluster'],
  [reply('ERR DB index is out of range'), 'redis-kind', 'no database of that number'],
  [broken('DEPTH_ZERO_SELF_SIGNED_CERT'), 'redis-tls', 'a certificate that is not trusted'],
  [broken('ERR_TLS_CERT_ALTNAME_INVALID'), 'redis-tls', 'a certificate that is not trusted'],
  [broken('EPROTO'), 'redis-kind', 'something else than Redis, or TLS on one side only'],
])('%s will not pass', (error, code, got) => {
  expect(redisFailure(error, address)).toMatchObject({ code, retryable: false, message: expect.stringContaining(got) });
});

test.each([
  [broken('ECONNREFUSED', 'connect ECONNREFUSED certificate.example:6379'), 'ECONNREFUSED'],
  [reply('LOADING Redis is loading the dataset in memory'), 'LOADING Redis is loading'],
  [reply("ERR unknown command 'NOAUTH', with args beginning with: 'certificate'"), "ERR unknown command 'NOAUTH'"],
  [broken('ENOTFOUND', 'getaddrinfo ENOTFOUND wrongpass'), 'ENOTFOUND'],
])('%s may pass: words of a text decide nothing', (error, got) => {
  expect(redisFailure(error, address)).toMatchObject({
    ...{ code: 'no-redis', retryable: true, message: expect.stringContaining(`got ${got}`) },
  });
});
