import { expect, test } from 'vitest';
import { catalogId, readCatalogConfig } from '../../src/iceberg/rest/catalog-config.ts';

test('each namespace of a catalog has an id of its own, which stays the same', () => {
  const setting = 'PYICEBERG_CATALOG__DEFAULT__';
  const flags = { uri: 'https://lake.example/api', namespace: 'ton.mainnet' };
  const ids = [
    readCatalogConfig(flags, {}),
    readCatalogConfig({ ...flags, uri: 'https://lake.example/other' }, {}),
    readCatalogConfig({ ...flags, namespace: 'ton.testnet' }, {}),
    readCatalogConfig({ ...flags, warehouse: 'one' }, {}),
    readCatalogConfig({ ...flags, warehouse: 'two' }, {}),
    readCatalogConfig(flags, { [`${setting}PREFIX`]: 'one' }),
    readCatalogConfig(flags, { [`${setting}PREFIX`]: 'two' }),
  ].map(catalogId);
  expect(new Set(ids).size).toBe(ids.length);
  // Marks of published commits are stored by it.
  expect(ids[0]).toBe('b087782e4744');
  expect(catalogId(readCatalogConfig(flags, { [`${setting}TOKEN`]: 'secret' }))).toBe(ids[0]);
});
