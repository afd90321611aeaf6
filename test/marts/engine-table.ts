import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../../docs/lake.md', import.meta.url));

export const ENGINES = ['spark', 'clickhouse'] as const;

/** What docs/lake.md says of the select of each mart in other engines. */
export function readEngineTable(): ReadonlyMap<string, Readonly<Record<(typeof ENGINES)[number], string>>> {
  const [, body = ''] = /<!-- marts -->\n([\s\S]*?)<!-- \/marts -->/.exec(readFileSync(page, 'utf8')) ?? [];
  const rows = body.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.map((row) => {
      const [, name = '', spark = '', clickhouse = ''] = row.split('|').map((cell) => cell.trim().replaceAll('`', ''));
      return [name, { spark, clickhouse }];
    }),
  );
}
