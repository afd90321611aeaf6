import { expect, test } from 'vitest';
import { UsageError, usage } from '../../src/core/errors.ts';
import { decodeError, encodeError } from '../../src/core/wire-error.ts';

test('a usage error says what refuses the input, and what is wrong', () => {
  const options = { code: 'bad-thing', hint: 'see --help' };
  expect(usage('a thing', 'x', options)).toMatchObject({ message: 'usage: expected a thing, got x', of: undefined });
  expect(usage('a thing', 'x', { ...options, of: 'blocks' })).toMatchObject({
    ...{ message: 'usage blocks: expected a thing, got x', problem: 'expected a thing, got x', of: 'blocks' },
  });
});

test('what only a caller knows is added, and the rest stays', () => {
  const error = usage('a thing', 'x', { code: 'bad-thing', hint: 'see --help' });
  const named = error.with({ of: 'own.js' });
  expect(named).toMatchObject({ message: 'usage own.js: expected a thing, got x', code: 'bad-thing', cause: error });
  expect(named.with({ problem: `${named.problem} (a.yaml:1:2)` })).toMatchObject({
    ...{ message: 'usage own.js: expected a thing, got x (a.yaml:1:2)', hint: 'see --help', cause: named },
  });
});

test('a usage error of another thread has the same message', () => {
  const error = usage('a thing', 'x', { of: 'blocks', code: 'bad-thing', hint: 'see --help' });
  const decoded = decodeError(structuredClone(encodeError(error)));
  expect(decoded).toBeInstanceOf(UsageError);
  expect(decoded).toEqual(error);
  expect(decoded.stack).toBe(error.stack);
});
