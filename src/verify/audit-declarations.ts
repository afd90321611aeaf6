import { requireAnswered, shortMessage } from '../core/errors.ts';
import { isNewer } from '../core/newer-tonlake.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { serializePipeline } from '../declare/stored-declaration.ts';
import type { DamagedStore, DeclarationPlace, LedgerEntry, LostDeclaration } from '../warehouse/index.ts';
import type { Finding } from './finding.ts';

/** Checks that the declarations that entries name, or the next run would name, exist and are those that rows were written with. */
export async function auditDeclarations(
  { entries, declarations }: DamagedStore,
  registry: Registry,
): Promise<readonly Finding[]> {
  const listed = await declarations.list();
  const places = new Map(listed.map((place) => [place.id, place]));
  const used = firstUses(entries);
  const isUsed = new Set(used.map(({ id }) => id));
  // A run does not write again what is there.
  const coming = listed.filter(
    ({ id, pipeline }) => !isUsed.has(id) && declaredAs(registry, pipeline, expectedOf(id)) !== undefined,
  );
  const findings: Finding[] = [];
  for (const { id, pipeline, number } of [...used, ...coming]) {
    const place = places.get(id);
    const what = { kind: 'declaration-broken', pipeline, entry: number, expected: expectedOf(id) } as const;
    if (place === undefined) findings.push({ ...what, got: 'none' });
    else {
      await declarations.read(place).catch((error: unknown) => {
        requireAnswered(error);
        if (isNewer(error)) throw error;
        findings.push({ ...what, got: shortMessage(error) });
      });
    }
  }
  return findings;
}

function expectedOf(id: string): string {
  return `declaration ${id}`;
}

/** The first entry of each declaration. */
function firstUses(entries: readonly LedgerEntry[]): readonly DeclarationPlace[] {
  const uses = new Map<string, DeclarationPlace>();
  for (const { declaration: id, pipeline, number } of entries) {
    if (id !== undefined && !uses.has(id)) uses.set(id, { id, pipeline, number });
  }
  return [...uses.values()];
}

/** The loaded pipeline of this name, if `expected` is its declaration. */
function declaredAs(registry: Registry, name: string, expected: string): PipelineDef | undefined {
  return registry.pipelines.find((each) => each.name === name && expectedOf(serializePipeline(each).id) === expected);
}

/** Missing or damaged declarations that can be restored, because the loaded pipeline has the same declaration. */
export function restorable(findings: readonly Finding[], registry: Registry): readonly LostDeclaration[] {
  return findings.flatMap(({ kind, pipeline: name, entry, expected }) => {
    if (kind !== 'declaration-broken' || entry === undefined) return [];
    const pipeline = declaredAs(registry, name, expected);
    return pipeline === undefined ? [] : [{ pipeline, number: entry }];
  });
}
