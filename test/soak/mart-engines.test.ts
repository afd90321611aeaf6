import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { openQueries } from '../../src/warehouse/query/query.ts';
import { readEngineTable } from '../marts/engine-table.ts';
import { exportSandbox, marts } from '../marts/support.ts';
import { hasModules } from '../programs.ts';
import { freshFolder } from '../scratch.ts';

const run = promisify(execFile);
/** A Python with pyarrow, chdb and sqlglot. */
const PYTHON = process.env['TONLAKE_PYTHON'] ?? 'python3';
const SCRIPT = fileURLToPath(new URL('mart-engines.py', import.meta.url));
const isThere = hasModules(['pyarrow', 'chdb', 'sqlglot'], PYTHON);

describe.skipIf(!isThere)('docs/lake.md (skipped without pyarrow, chdb and sqlglot)', () => {
  let folder: string;
  let selects: string;

  beforeAll(async () => {
    folder = freshFolder();
    selects = join(folder, 'selects.json');
    const warehouse = await exportSandbox('4600:5100');
    await buildMarts(warehouse);
    const queries = await openQueries(warehouse);
    const read = async (sql: string): Promise<readonly string[]> =>
      queries.read(sql, async ({ chunks }) => {
        const names: string[] = [];
        for await (const rows of chunks()) names.push(...rows.map(([name]) => String(name)));
        return names;
      });
    const tables = await read("SELECT DISTINCT unnest(json_keys(rows)) FROM _commits WHERE rows <> '{}'");
    for (const name of tables)
      await queries.write(`SELECT * FROM ${name}`, { file: join(folder, `${name}.parquet`), format: 'parquet' });
    await queries.close();
    await writeFile(
      selects,
      JSON.stringify(Object.fromEntries(marts.map(({ name, file }) => [name, file.sql.replace(/;\s*$/, '')]))),
    );
  });

  test('tells what the selects of marts give in other engines', async () => {
    const { stdout, stderr } = await run(PYTHON, [SCRIPT, folder, selects], { maxBuffer: 2 ** 26 });
    const outcomes = JSON.parse(/RESULT (.*)/.exec(stdout)?.[1] ?? 'null');
    const told = [...readEngineTable()].map(([name, { untranslated, clickhouse }]) => [
      name,
      [untranslated, clickhouse, 'translated'],
    ]);
    expect(outcomes, stderr).toEqual(Object.fromEntries(told));
  });
});
