import { shortMessage } from '../core/errors.ts';
import type { Registry } from '../declare/registry.ts';
import { serializePipeline } from '../declare/stored-declaration.ts';
import type { LedgerEntry, LostDeclaration } from '../warehouse/index.ts';
import type { Held } from './damaged-warehouse.ts';
import type { Finding } from './finding.ts';

/** Finds that the declaration of every entry in force is there, and is the one that made its rows. */
export async function auditDeclarations({ entries, declarations }: Held): Promise<readonly Finding[]> {
  const places = new Map((await declarations.list()).map((place) => [place.id, place]));
  const findings: Finding[] = [];
  for (const { declaration: id, pipeline, number } of firstUses(entries)) {
    const place = places.get(id);
    const what = { kind: 'declaration-broken', pipeline, entry: number, expected: `declaration ${id}` } as const;
    if (place === undefined) findings.push({ ...what, got: 'none' });
    else {
      await declarations.read(place).catch((error: unknown) => findings.push({ ...what, got: shortMessage(error) }));
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

/** Declarations that are missing or damaged, and can be written again: the pipeline that is loaded is declared the same. */
export function restorable(held: Held, findings: readonly Finding[], registry: Registry): readonly LostDeclaration[] {
  const broken = findings.filter(({ kind }) => kind === 'declaration-broken').map(({ entry }) => entry);
  return held.entries.flatMap(({ number, pipeline: name, declaration }) => {
    const pipeline = registry.pipelines.find((each) => each.name === name);
    const isSame = pipeline !== undefined && serializePipeline(pipeline).id === declaration;
    return isSame && broken.includes(number) ? [{ pipeline, number }] : [];
  });
}
