import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../../docs/lake.md', import.meta.url));

/** Spark by build_marts.py; ClickHouse with selects that sqlglot has translated, and with those that it has not. */
const COLUMNS = ['spark', 'clickhouse', 'untranslated'] as const;

/** What docs/lake.md says of each mart in other engines. */
export function readEngineTable(): ReadonlyMap<string, Readonly<Record<(typeof COLUMNS)[number], string>>> {
  const [, body = ''] = /<!-- marts -->\n([\s\S]*?)<!-- \/marts -->/.exec(readFileSync(page, 'utf8')) ?? [];
  const rows = body.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.map((row) => {
      const [, name = '', spark = '', clickhouse = '', untranslated = ''] = row
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', ''));
      return [name, { spark, clickhouse, untranslated }];
    }),
  );
}
