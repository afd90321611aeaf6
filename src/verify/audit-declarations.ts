import { requireAnswered, shortMessage } from '../core/errors.ts';
import { isNewer } from '../core/newer-tonlake.ts';
import type { Registry } from '../declare/registry.ts';
import { serializePipeline } from '../declare/stored-declaration.ts';
import type { DamagedStore, LedgerEntry, LostDeclaration } from '../warehouse/index.ts';
import type { Finding } from './finding.ts';

/** Checks that the declaration of every active entry exists and is the one that its rows were written with. */
export async function auditDeclarations({ entries, declarations }: DamagedStore): Promise<readonly Finding[]> {
  const places = new Map((await declarations.list()).map((place) => [place.id, place]));
  const findings: Finding[] = [];
  for (const { declaration: id, pipeline, number } of firstUses(entries)) {
    const place = places.get(id);
    const what = { kind: 'declaration-broken', pipeline, entry: number, expected: `declaration ${id}` } as const;
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

/** The first entry of each declaration. */
function firstUses(entries: readonly LedgerEntry[]): readonly (LedgerEntry & { readonly declaration: string })[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    const { declaration } = entry;
    if (declaration === undefined || seen.has(declaration)) return [];
    seen.add(declaration);
    return [{ ...entry, declaration }];
  });
}

/** Missing or damaged declarations that can be restored, because the loaded pipeline has the same declaration. */
export function restorable(
  warehouse: DamagedStore,
  findings: readonly Finding[],
  registry: Registry,
): readonly LostDeclaration[] {
  const broken = findings.filter(({ kind }) => kind === 'declaration-broken').map(({ entry }) => entry);
  return warehouse.entries.flatMap(({ number, pipeline: name, declaration }) => {
    const pipeline = registry.pipelines.find((each) => each.name === name);
    const isSame = pipeline !== undefined && serializePipeline(pipeline).id === declaration;
    return isSame && broken.includes(number) ? [{ pipeline, number }] : [];
  });
}
