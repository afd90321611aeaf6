import { isNewer } from '../core/newer-tonlake.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { guarded } from '../files/file-failure.ts';
import type { DeclarationPlace, Declarations } from './ledger/declarations.ts';
import { detectStoreKind, loadDriver } from './store-kinds.ts';
import { warehousePath } from './store-options.ts';

/**
 * The newest stored declaration of each pipeline that a warehouse holds rows of; nothing where there is no warehouse, or another process
 * writes a DuckDB file, which the next open tells.
 *
 * @param isWanted by name: only these are read
 * @param onBroken told of what cannot be read, which is left out then; default: throws
 * @throws {StoreError} `bad-declaration`
 */
export async function readStoredPipelines(
  warehouse: string,
  isWanted: (pipeline: string) => boolean,
  onBroken?: (error: unknown) => void,
): Promise<readonly PipelineDef[]> {
  const path = warehousePath(warehouse);
  const { kind, exists } = await detectStoreKind(path);
  if (!exists) return [];
  const driver = await loadDriver(kind);
  const read = (declarations: Declarations) => newestOf(declarations, isWanted, onBroken);
  return guarded(`warehouse ${path}`, async () => (await driver.useDeclarations(path, read)) ?? []);
}

/** As {@link readStoredPipelines}, of a warehouse that is open. */
export async function newestOf(
  declarations: Declarations,
  isWanted: (pipeline: string) => boolean,
  onBroken?: (error: unknown) => void,
): Promise<readonly PipelineDef[]> {
  const newest = new Map<string, DeclarationPlace>();
  for (const place of await declarations.list()) if (isWanted(place.pipeline)) newest.set(place.pipeline, place);
  const read = [...newest.values()].map(async (place) => {
    try {
      return [await declarations.read(place)];
    } catch (error) {
      // Its tables are unknown to this version, which refuses to write where entries name them.
      if (isNewer(error)) return [];
      if (onBroken === undefined) throw error;
      onBroken(error);
      return [];
    }
  });
  return (await Promise.all(read)).flat();
}
