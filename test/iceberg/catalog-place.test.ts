import { expect, test } from 'vitest';
import { catalogId, catalogPlace } from '../../src/iceberg/rest/catalog-place.ts';

test('each namespace of a catalog has an id of its own, which stays the same', () => {
  const setting = 'PYICEBERG_CATALOG__DEFAULT__';
  const flags = { uri: 'https://lake.example/api', namespace: 'ton.mainnet' };
  const ids = [
    catalogPlace(flags, {}),
    catalogPlace({ ...flags, uri: 'https://lake.example/other' }, {}),
    catalogPlace({ ...flags, namespace: 'ton.testnet' }, {}),
    catalogPlace({ ...flags, warehouse: 'one' }, {}),
    catalogPlace({ ...flags, warehouse: 'two' }, {}),
    catalogPlace(flags, { [`${setting}PREFIX`]: 'one' }),
    catalogPlace(flags, { [`${setting}PREFIX`]: 'two' }),
  ].map(catalogId);
  expect(new Set(ids).size).toBe(ids.length);
  // Marks of published commits are stored by it.
  expect(ids[0]).toBe('b087782e4744');
  expect(catalogId(catalogPlace(flags, { [`${setting}TOKEN`]: 'secret' }))).toBe(ids[0]);
});
