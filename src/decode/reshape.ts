import type { Shape } from '../declare/table.ts';
import { valueAt } from './read-cell.ts';

/**
 * The list of records of a parsed response, as the kernel finds it in the bytes; anything else if it has no such list.
 *
 * @param path JSON pointer of the list, without a shape
 */
export function recordsIn(path: string, shape: Shape | undefined, page: unknown): unknown {
  switch (shape) {
    case undefined:
      return valueAt(page, path) ?? [];
    case 'list':
      return page;
    case 'one':
      return [page];
    case 'map':
      return Object.entries(page ?? {}).map(([key, value]) => ({ key, value }));
    case 'bodies': {
      const bodies = valueAt(page, '/bodies') ?? [];
      return Array.isArray(bodies) ? bodies.map((value: unknown) => ({ value })) : bodies;
    }
  }
}
