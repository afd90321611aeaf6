import type { Effects } from '../core/effects.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { serializePipeline } from '../declare/stored-declaration.ts';
import { takeLock } from '../files/writer-lock.ts';
import { Database } from '../sql/database.ts';
import { insertDeclaration, pathsOf } from '../warehouse/duckdb-store/database-file.ts';
import { DeclarationFolder } from '../warehouse/ledger/declarations.ts';
import { layoutOf } from '../warehouse/ledger/ledger-folder.ts';
import type { LedgerEntry } from '../warehouse/store.ts';
import { type Held, messageOf } from './damaged-warehouse.ts';
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
      await declarations.read(place).catch((error: unknown) => findings.push({ ...what, got: messageOf(error) }));
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

/** A declaration that is missing or damaged, and can be written again: the pipeline that is loaded is declared the same. */
export interface LostDeclaration {
  readonly pipeline: PipelineDef;
  readonly number: number;
}

export function restorable(held: Held, findings: readonly Finding[], registry: Registry): readonly LostDeclaration[] {
  const broken = findings.filter(({ kind }) => kind === 'declaration-broken').map(({ entry }) => entry);
  return held.entries.flatMap(({ number, pipeline: name, declaration }) => {
    const pipeline = registry.pipelines.find((each) => each.name === name);
    const isSame = pipeline !== undefined && serializePipeline(pipeline).id === declaration;
    return isSame && broken.includes(number) ? [{ pipeline, number }] : [];
  });
}

/**
 * Writes lost declarations again.
 *
 * @throws {StoreError} `busy`
 */
export async function restoreDeclarations(
  { kind, path }: Pick<Held, 'kind' | 'path'>,
  lost: readonly LostDeclaration[],
  effects: Effects,
  command: string,
): Promise<void> {
  const lockPath = kind === 'parquet' ? layoutOf(path).lock : pathsOf(path).lock;
  const lock = await takeLock({ path: lockPath, subject: `warehouse ${path}`, command, effects });
  try {
    if (kind === 'parquet') {
      const folder = new DeclarationFolder(path);
      for (const { pipeline, number } of lost) await folder.replace(pipeline, number);
      return;
    }
    const database = await Database.open(path);
    try {
      await database.transaction(async () => {
        for (const { pipeline, number } of lost) {
          const stored = serializePipeline(pipeline);
          await insertDeclaration(database, stored, number, true);
        }
      });
    } finally {
      database.close();
    }
  } finally {
    await lock.release();
  }
}
