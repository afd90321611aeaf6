import { StoreError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';

export function noWarehouse(path: string): StoreError {
  return new StoreError(`store: no warehouse at ${path}`, {
    code: 'no-warehouse',
    hint: `check the path, or create one with ${suggest('run', '', { range: '-1000:' })}`,
  });
}
