import { loadRegistry, type Registry } from '../../declare/registry.ts';
import { requireUnchanged } from '../../declare/stored-declaration.ts';
import { readStoredPipelines } from '../stored-pipelines.ts';

/**
 * The pipelines of a registry, and those that made rows of a warehouse: their declarations are stored beside the rows.
 *
 * @param registry default: the pipelines that come with tonlake, and those of `TONLAKE_PIPELINES`
 * @param onBroken told of declarations that cannot be read, which are left out then; default: throws
 * @throws {StoreError} `bad-declaration` when one is missing or damaged; `changed-declaration` when the rows of a pipeline of one's own
 * cannot be read by its declaration of today
 */
export async function warehouseRegistry(
  warehouse: string,
  registry?: Registry,
  onBroken?: (error: unknown) => void,
): Promise<Registry> {
  const given = registry ?? (await loadRegistry());
  const isOwn = (name: string): boolean => given.own.has(name);
  const names = new Set(given.pipelines.map(({ name }) => name));
  const stored = await readStoredPipelines(warehouse, (name) => isOwn(name) || !names.has(name), onBroken);
  for (const pipeline of stored.filter(({ name }) => isOwn(name))) {
    requireUnchanged(pipeline, given.pipeline(pipeline.name), warehouse);
  }
  return given.with(stored.filter(({ name }) => !names.has(name)));
}
