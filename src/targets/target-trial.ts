import { dirname } from 'node:path';
import type { Trial } from '../core/trial.ts';
import { folderTrial } from '../files/writable-folder.ts';
import type { Target } from './target.ts';

/** Tries whether a file can be written, or whether a database lets us in. */
export function targetTrial(target: Target): Trial {
  switch (target.kind) {
    case 'postgres':
      return {
        name: `log in to PostgreSQL at ${target.url.host || 'the socket'}`,
        attempt: async () => (await import('./postgres.ts')).tryPostgres(target.url),
      };
    case 'clickhouse':
      return {
        name: `log in to ClickHouse at ${target.url.host}`,
        attempt: async () => (await import('./clickhouse.ts')).tryClickhouse(target.url),
      };
    case 'file':
      return folderTrial(dirname(target.path), 'output');
  }
}
