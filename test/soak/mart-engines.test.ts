import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { openQueries } from '../../src/warehouse/query/query.ts';
import { ENGINES, readEngineTable } from '../marts/engine-table.ts';
import { exportSandbox, marts } from '../marts/support.ts';
import { freshFolder } from '../scratch.ts';

const run = promisify(execFile);
/** A Python with pyarrow and pyspark 4.1 (which needs Java 17) or chdb. */
const PYTHON = process.env['TONLAKE_PYTHON'] ?? 'python3';
const SCRIPT = fileURLToPath(new URL('mart-engines.py', import.meta.url));
const packages = { spark: 'pyspark', clickhouse: 'chdb' } as const;

/** In a folder whose name no module has. */
const isThere = (engine: (typeof ENGINES)[number]): boolean =>
  spawnSync(PYTHON, ['-c', `import pyarrow, ${packages[engine]}`]).status === 0;
const present = new Map(ENGINES.map((engine) => [engine, isThere(engine)]));

describe('docs/lake.md tells what the selects of marts give in', () => {
  let folder: string;
  let selects: string;

  beforeAll(async () => {
    if (![...present.values()].includes(true)) return;
    folder = freshFolder();
    selects = join(folder, 'selects.json');
    const warehouse = await exportSandbox('4600:5100');
    await buildMarts(warehouse);
    const queries = await openQueries(warehouse);
    const read = async (sql: string): Promise<readonly string[]> =>
      queries.read(sql, async ({ lots }) => {
        const names: string[] = [];
        for await (const rows of lots()) names.push(...rows.map(([name]) => String(name)));
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

  for (const engine of ENGINES) {
    test.skipIf(present.get(engine) !== true)(`${engine} (skipped without ${packages[engine]})`, async () => {
      const { stdout, stderr } = await run(PYTHON, [SCRIPT, engine, folder, selects], { maxBuffer: 2 ** 26 });
      const outcomes = JSON.parse(/RESULT (.*)/.exec(stdout)?.[1] ?? 'null');
      const told = Object.fromEntries([...readEngineTable()].map(([name, each]) => [name, each[engine]]));
      expect(outcomes, stderr).toEqual(told);
    });
  }
});
