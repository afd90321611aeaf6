import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { formatError, UsageError } from '../../src/core/errors.ts';
import { readApiKey, resolveNetwork } from '../../src/http/network.ts';
import { freshFolder } from '../scratch.ts';

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    expect(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain('s3cr3t');
    return formatError(error);
  }
  throw new Error('expected a refusal');
}

describe('resolveNetwork', () => {
  test('three names are known, and the sandbox has no address of its own', () => {
    expect(resolveNetwork('mainnet').baseUrl).toBe('https://toncenter.com/api/v3');
    expect(resolveNetwork('testnet').baseUrl).toBe('https://testnet.toncenter.com/api/v3');
    expect(resolveNetwork('sandbox')).toEqual({
      name: 'sandbox',
      kind: 'sandbox',
      baseUrl: undefined,
      isLocal: true,
      defaultRps: undefined,
    });
  });

  test('a base URL is named by itself, without a trailing slash', () => {
    expect(resolveNetwork('HTTP://Example.org:8081/api/v3/')).toMatchObject({
      name: 'http://example.org:8081/api/v3',
      kind: 'address',
      baseUrl: 'http://example.org:8081/api/v3',
    });
    expect(resolveNetwork('https://example.org/').baseUrl).toBe('https://example.org');
  });

  test('the base URL of a named network is that network', () => {
    expect(resolveNetwork('https://toncenter.com/api/v3/').name).toBe('mainnet');
  });

  test('an address of this machine has no limit, any other counts like mainnet', () => {
    expect(resolveNetwork('http://127.0.0.1:8081/api/v3').defaultRps).toBeUndefined();
    expect(resolveNetwork('http://localhost:8081/api/v3').defaultRps).toBeUndefined();
    expect(resolveNetwork('http://[::1]:8081/api/v3').defaultRps).toBeUndefined();
    expect(resolveNetwork('http://127.evil.org/api/v3').defaultRps).toEqual({ withoutKey: 1, withKey: 10 });
    expect(resolveNetwork('mainnet').defaultRps).toEqual({ withoutKey: 1, withKey: 10 });
  });

  test('a misspelt name is refused with the choices and the nearest name', () => {
    expect(refusal(() => resolveNetwork('manet'))).toBe(
      'usage: expected a network (mainnet, testnet, sandbox or a base URL such as http://127.0.0.1:8081/api/v3), ' +
        'got "manet"; hint: --network mainnet',
    );
    expect(refusal(() => resolveNetwork('Testnet'))).toMatch(/hint: --network testnet$/);
  });

  test('an address without http:// is told so', () => {
    expect(refusal(() => resolveNetwork('localhost:8081/api/v3'))).toMatch(
      /hint: --network http:\/\/localhost:8081\/api\/v3/,
    );
    expect(refusal(() => resolveNetwork('ftp://example.org'))).toMatch(/expected a network/);
    expect(refusal(() => resolveNetwork('http://'))).toMatch(/expected a network/);
    expect(refusal(() => resolveNetwork(''))).toMatch(/got ""/);
  });

  test('an address with a password or a key is refused without repeating it', () => {
    const text = refusal(() => resolveNetwork('https://user:s3cr3t@toncenter.com/api/v3'));
    expect(text).toMatch(/got one with a user name or password; hint: an API key belongs in TONLAKE_API_KEY/);
    expect(refusal(() => resolveNetwork('https://toncenter.com/api/v3?api_key=s3cr3t'))).toMatch(/with a query/);
    expect(refusal(() => resolveNetwork('toncenter.com/api/v3?api_key=s3cr3t'))).toMatch(/got something else/);
  });
});

describe('readApiKey', () => {
  const folder = freshFolder();
  function file(name: string, text: string): string {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  }

  test('no variable means no key', () => {
    expect(readApiKey({})).toBeUndefined();
    expect(readApiKey({ TONLAKE_API_KEY: '', TONLAKE_API_KEY_FILE: '' })).toBeUndefined();
  });

  test('TONLAKE_API_KEY wins over the first line of the key file', () => {
    const path = file('key', '  from-file \r\nsecond line\n');
    expect(readApiKey({ TONLAKE_API_KEY_FILE: path })?.reveal()).toBe('from-file');
    expect(readApiKey({ TONLAKE_API_KEY: ' direct\n', TONLAKE_API_KEY_FILE: path })?.reveal()).toBe('direct');
  });

  test('an empty or unreadable key file is a usage error that quotes nothing of it', () => {
    expect(refusal(() => readApiKey({ TONLAKE_API_KEY_FILE: file('empty', '\n') }))).toMatch(/got nothing/);
    expect(refusal(() => readApiKey({ TONLAKE_API_KEY_FILE: '/none/s3cr3t' }))).toMatch(/cannot be read; hint/);
    expect(refusal(() => readApiKey({ TONLAKE_API_KEY_FILE: folder }))).toMatch(/cannot be read; hint/);
  });

  test('a key with blanks or line breaks inside is refused without repeating it', () => {
    expect(refusal(() => readApiKey({ TONLAKE_API_KEY: 's3cr3t\r\nX-Evil: 1' }))).toMatch(
      /got blanks or non-ASCII characters/,
    );
  });

  test('a key prints as [redacted]', () => {
    const key = readApiKey({ TONLAKE_API_KEY: 's3cr3t' });
    const printed = `${key} ${JSON.stringify({ key })} ${inspect({ key }, { showHidden: true, depth: 9 })}`;
    expect(printed).toBe('[redacted] {"key":"[redacted]"} { key: [redacted] }');
  });
});
