import type { Registry } from '../declare/registry.ts';
import { headerList, headerText, readSqlFiles } from '../sql/sql-file.ts';
import { COMMITS, type LedgerEntry } from '../warehouse/index.ts';
import { EmptyDatabase } from '../warehouse/query/empty-database.ts';
import { readsIn } from '../warehouse/query/left-out-gaps.ts';
import type { CheckDef, CheckPart } from './check-def.ts';
import { declaredChecks } from './declared-checks.ts';
import { loadMarts, requireIncremental, requireSame } from './load-marts.ts';
import { readReferences, requireKnown, sqlError } from './sql-references.ts';

interface CheckFolders {
  /** Folder of the user's own checks. */
  readonly folder?: string | undefined;
  /** Folder of the user's own marts, which checks may read. */
  readonly marts?: string | undefined;
}

const keys = { required: ['rule', 'inputs'], optional: ['optional', 'incremental'] };

/**
 * Loads the checks of files.
 * @throws {MartError} with file and line if a header or a select is wrong
 */
export async function loadChecks(
  registry: Registry,
  { folder, marts: martFolder }: CheckFolders = {},
): Promise<readonly CheckDef[]> {
  const marts = await loadMarts(registry, martFolder);
  const tables = [...registry.tables, ...marts.map(({ table }) => table)];
  const known = new Set([...tables.map(({ name }) => name), COMMITS]);
  const dated = new Set(tables.filter(({ time }) => time !== undefined).map(({ name }) => name));
  const files = await readSqlFiles('checks', folder, keys);
  const scratch = await EmptyDatabase.open(registry);
  for (const { table } of marts) scratch.declare(table);
  try {
    const checks: CheckDef[] = [];
    for (const file of files) {
      const references = await readReferences(scratch.query, file);
      requireKnown(file.path, references, known);
      await scratch.query(`DESCRIBE ${file.sql}`).catch((error: unknown) => {
        throw sqlError(file, error);
      });
      const optional = headerList(file, 'optional');
      const read = references.map(({ name }) => name);
      const inputs = read.filter((name) => name !== COMMITS);
      requireSame(file, [...headerList(file, 'inputs'), ...optional], inputs);
      const isDaily = requireIncremental(
        file,
        inputs.some((name) => dated.has(name)),
        'a table with days among its inputs',
      );
      const part: CheckPart = {
        ...{ sql: file.sql.replace(/;\s*$/, ''), path: file.path, scope: isDaily ? 'day' : 'all', acrossDays: false },
        ...{ inputs, optional, readsCommits: read.includes(COMMITS) },
        reads: readsIn(registry, await scratch.scans(file.sql)),
        macros: scratch.macrosIn(file.sql),
      };
      checks.push({ name: file.name, rule: headerText(file, 'rule'), parts: [part] });
    }
    return checks;
  } finally {
    await scratch.close();
  }
}

/**
 * Checks of files with those that follow from declarations, sorted by name. A file takes the place of a declared check of its name.
 *
 * @param ledger what was left out of it is not asked for. Default: nothing was
 */
export function withDeclared(
  checks: readonly CheckDef[],
  registry: Registry,
  ledger: readonly LedgerEntry[] = [],
): readonly CheckDef[] {
  const all = new Map([...declaredChecks(registry, ledger), ...checks].map((check) => [check.name, check]));
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
