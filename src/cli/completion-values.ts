import { endpointNames, endpointOf } from '../api/endpoints.ts';
import { loadRegistry } from '../declare/registry.ts';
import { networkNames } from '../http/network.ts';
import { shippedNames } from '../sql/shipped-queries.ts';
import type { ValueSource } from './complete-words.ts';

/** Values of options and arguments for completion; none for paths and free text. */
export const valuesOf: ValueSource = async (argument, command) => {
  switch (argument) {
    case '--network':
      return networkNames;
    case 'pipeline':
    case 'pipelines':
      return (await loadRegistry()).pipelines.map(({ name }) => name);
    case 'names':
      return [...(await loadRegistry()).pipelines.map(({ name }) => name), ...(await shippedNames('marts'))];
    case 'rows':
    case 'thing': {
      const [{ tables }, { ownRelations }] = await Promise.all([
        loadRegistry(),
        import('../warehouse/query/state-relations.ts'),
      ]);
      const declared = tables.flatMap((table) => [table, ...table.views]);
      return [...[...declared, ...ownRelations].map(({ name }) => name), ...(await shippedNames('marts'))];
    }
    case 'name':
      return shippedNames(command === 'test' ? 'checks' : 'marts');
    case 'report':
      return shippedNames('reports');
    case 'endpoint':
      return endpointNames.map((name) => endpointOf(name).path.slice(1));
    default:
      return [];
  }
};
