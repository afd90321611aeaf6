import { MartError } from '../core/errors.ts';
import type { TableDef } from '../declare/table.ts';
import type { SqlFile } from '../sql/sql-file.ts';

/** How some columns of a row follow from the earlier row of the same key, and from a row that is made of new blocks alone. */
export type MergeRule =
  | { readonly kind: 'latest' | 'earliest'; readonly by: string; readonly columns: readonly string[] }
  | { readonly kind: 'sum'; readonly columns: readonly string[] };

/** Reads `latest lt: a, b` and `sum: c` of a header. @throws {MartError} `bad-header` unless each column beside the key has one rule */
export function mergeRulesOf(file: SqlFile, { key, columns }: TableDef): readonly MergeRule[] | undefined {
  const lines = file.header.get('merge');
  if (lines === undefined) return undefined;
  const fault = (expected: string, got: string): MartError =>
    new MartError(`mart: expected ${expected}, got ${got} (${file.path})`, { code: 'bad-header' });
  const rules = lines.map((line): MergeRule => {
    const [, kind, by, list = ''] = /^(latest|earliest|sum)(?: (\w+))?: (.+)$/.exec(line) ?? [];
    const named = list.split(',').map((name) => name.trim());
    if (kind === 'sum' && by === undefined) return { kind, columns: named };
    if ((kind === 'latest' || kind === 'earliest') && by !== undefined) return { kind, by, columns: named };
    throw fault('latest column: columns, earliest column: columns, or sum: columns', line);
  });
  const ruled = rules.flatMap((rule) => [...rule.columns, ...(rule.kind === 'sum' ? [] : [rule.by])]).sort();
  const needed = columns.map(({ name }) => name).filter((name) => !key.includes(name) && name !== '_coverage');
  if (ruled.join(', ') === needed.sort().join(', ')) return rules;
  throw fault(`each column beside the key once in merge (${needed.join(', ')})`, ruled.join(', '));
}
