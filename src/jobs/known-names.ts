import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { loadRegistry } from '../declare/registry.ts';

/** What a job may name. */
export interface JobNames {
  readonly pipelines: readonly string[];
  readonly tables: readonly string[];
  readonly marts: readonly string[];
  readonly checks: readonly string[];
  readonly reports: readonly string[];
}

/** The names that come with tonlake: of declarations, and of files below `sql/`. */
export async function loadNames(): Promise<JobNames> {
  const [registry, marts, checks, reports] = await Promise.all([
    loadRegistry(),
    namesIn('marts', '.sql'),
    namesIn('checks', '.sql'),
    namesIn('reports', undefined),
  ]);
  return {
    pipelines: registry.pipelines.map(({ name }) => name),
    tables: registry.tables.map(({ name }) => name),
    marts,
    checks,
    reports,
  };
}

/** Files with an ending, without it; or folders. `sql/` lies beside `src/`, and above the compiled files. */
async function namesIn(folder: string, ending: string | undefined): Promise<readonly string[]> {
  const above = import.meta.url.endsWith('.ts') ? '../../' : '../../../';
  const found = await readdir(fileURLToPath(new URL(`${above}sql/${folder}`, import.meta.url)), {
    withFileTypes: true,
  }).catch(() => []);
  const right = found.filter((item) =>
    ending === undefined ? item.isDirectory() : item.isFile() && item.name.endsWith(ending),
  );
  return right.map(({ name }) => name.slice(0, name.length - (ending?.length ?? 0))).sort();
}
