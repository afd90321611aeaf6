import { endpointNames, endpointOf } from '../api/endpoints.ts';
import { loadRegistry } from '../declare/registry.ts';
import { networkNames } from '../http/network.ts';
import { shippedNames } from '../sql/shipped-queries.ts';
import type { ValueSource } from './complete-words.ts';

/** Names that options and arguments take; none for paths and free texts. */
export const valuesOf: ValueSource = async (argument, command) => {
  switch (argument) {
    case '--network':
      return networkNames;
    case 'pipeline':
    case 'pipelines':
      return (await loadRegistry()).pipelines.map(({ name }) => name);
    case 'names':
      return [...(await loadRegistry()).pipelines.map(({ name }) => name), ...(await shippedNames('marts'))];
    case 'table':
    case 'thing': {
      const { tables } = await loadRegistry();
      const own = tables.flatMap(({ name, views }) => [name, ...views.map((view) => view.name)]);
      return [...own, ...(await shippedNames('marts'))];
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
