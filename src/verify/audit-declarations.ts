import { rethrowAccessError, shortMessage } from '../core/errors.ts';
import { isNewer } from '../core/newer-tonlake.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { serializePipeline } from '../declare/stored-declaration.ts';
import type { DamagedStore, DeclarationPlace, LedgerEntry, LostDeclaration } from '../warehouse/index.ts';
import type { Finding } from './finding.ts';

/** A declaration that is missing or damaged. */
export interface BrokenDeclaration extends DeclarationPlace {
  readonly got: string;
}

/** Finds declarations that entries name, or the next run will name, and that are missing or damaged. */
export async function auditDeclarations(
  { entries, declarations }: DamagedStore,
  registry: Registry,
): Promise<readonly BrokenDeclaration[]> {
  const places = new Map((await declarations.list()).map((place) => [place.id, place]));
  const used = firstUses(entries);
  // A run does not write declarations that exist.
  const upcoming = [...places.values()].filter(
    (place) => !used.has(place.id) && declaredAs(registry, place) !== undefined,
  );
  const broken: BrokenDeclaration[] = [];
  for (const use of [...used.values(), ...upcoming]) {
    const place = places.get(use.id);
    if (place === undefined) broken.push({ ...use, got: 'none' });
    else {
      await declarations.read(place).catch((error: unknown) => {
        rethrowAccessError(error);
        if (isNewer(error)) throw error;
        broken.push({ ...use, got: shortMessage(error) });
      });
    }
  }
  return broken;
}

/** The first entry of each declaration, by its identifier. */
function firstUses(entries: readonly LedgerEntry[]): ReadonlyMap<string, DeclarationPlace> {
  const uses = new Map<string, DeclarationPlace>();
  for (const { declaration: id, pipeline, number } of entries) {
    if (id !== undefined && !uses.has(id)) uses.set(id, { id, pipeline, number });
  }
  return uses;
}

/** The loaded pipeline that has this declaration. */
function declaredAs(registry: Registry, place: DeclarationPlace): PipelineDef | undefined {
  return registry.pipelines.find((each) => each.name === place.pipeline && serializePipeline(each).id === place.id);
}

export function findingOf({ id, pipeline, number, got }: BrokenDeclaration): Finding {
  return { kind: 'declaration-broken', pipeline, entry: number, expected: `declaration ${id}`, got };
}

/** Declarations that can be restored, because the loaded pipeline has the same one. */
export function restorable(broken: readonly BrokenDeclaration[], registry: Registry): readonly LostDeclaration[] {
  return broken.flatMap((place) => {
    const pipeline = declaredAs(registry, place);
    return pipeline === undefined ? [] : [{ pipeline, number: place.number }];
  });
}
