import { expect, test } from 'vitest';
import { unescaped } from '../../src/core/unescaped.ts';

test.each([
  ['a%20b%2Fc', 'a b/c'],
  ['%D0%B1', 'б'],
  ['', ''],
  ['50%', '50%'],
  ['a%20b%zz', 'a%20b%zz'],
])('the part %j of a URL is %j', (part, text) => {
  expect(unescaped(part)).toBe(text);
});
