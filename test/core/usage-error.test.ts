import { expect, test } from 'vitest';
import { MartError, StoreAccessError, UsageError, usage } from '../../src/core/errors.ts';
import { decodeError, encodeError } from '../../src/core/wire-error.ts';

test('a usage error says what refuses the input, and what is wrong', () => {
  expect(usage('a thing', 'x', 'see --help')).toMatchObject({
    ...{ message: 'usage: expected a thing, got x', hint: 'see --help', of: undefined },
  });
  expect(usage('a thing', 'x', undefined, { of: 'blocks' })).toMatchObject({
    ...{ message: 'usage blocks: expected a thing, got x', problem: 'expected a thing, got x', of: 'blocks' },
  });
});

test('what only a caller knows is added, and the rest stays', () => {
  const error = usage('a thing', 'x', 'see --help', { code: 'bad-thing' });
  const named = error.with({ of: 'own.js' });
  expect(named).toMatchObject({ message: 'usage own.js: expected a thing, got x', code: 'bad-thing', cause: error });
  expect(named.with({ problem: `${named.problem} (a.yaml:1:2)` })).toMatchObject({
    ...{ message: 'usage own.js: expected a thing, got x (a.yaml:1:2)', hint: 'see --help', cause: named },
  });
});

test('an error without a code has the name of its stage, so that programs can always compare one', () => {
  expect(usage('a thing')).toMatchObject({ message: 'usage: expected a thing', stage: 'usage', code: 'usage' });
  const failures = [new MartError('mart: x'), new StoreAccessError('store: x', { code: 'timeout' })];
  expect(failures.map(({ name, stage, code }) => [name, stage, code])).toEqual([
    ['MartError', 'mart', 'mart'],
    ['StoreAccessError', 'store', 'timeout'],
  ]);
});

test('a usage error of another thread has the same message', () => {
  const error = usage('a thing', 'x', 'see --help', { of: 'blocks', code: 'bad-thing' });
  const decoded = decodeError(structuredClone(encodeError(error)));
  expect(decoded).toBeInstanceOf(UsageError);
  expect(decoded).toEqual(error);
  expect(decoded.stack).toBe(error.stack);
});
