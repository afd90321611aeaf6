import { loadRegistry } from '../declare/registry.ts';
import { shippedNames } from '../sql/shipped-queries.ts';

/** Names that a job may use. */
export interface JobNames {
  readonly pipelines: readonly string[];
  readonly tables: readonly string[];
  readonly marts: readonly string[];
  readonly checks: readonly string[];
  readonly reports: readonly string[];
}

let loaded: Promise<JobNames> | undefined;

/** The names that come with tonlake: of declarations, and of files below `sql/`. */
export function loadNames(): Promise<JobNames> {
  loaded ??= readNames();
  return loaded;
}

async function readNames(): Promise<JobNames> {
  const [registry, marts, checks, reports] = await Promise.all([
    loadRegistry(),
    shippedNames('marts'),
    shippedNames('checks'),
    shippedNames('reports'),
  ]);
  const pipelines = registry.pipelines.map(({ name }) => name);
  return { pipelines, tables: registry.tables.map(({ name }) => name), marts, checks, reports };
}
