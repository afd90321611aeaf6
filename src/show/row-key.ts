import { base64Hash, rawAddress } from '../core/address.ts';
import { didYouMean } from '../core/did-you-mean.ts';
import { type UsageError, usage } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { ColumnDef } from '../declare/column.ts';
import { type Kind, kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName } from '../sql/canonical-text.ts';

/** A condition on one column: its value is one of these texts. */
export interface KeyPart {
  readonly column: ColumnDef;
  readonly texts: readonly string[];
}

/** Columns of a key that are given by position: those of the key, but not the time of a reading. */
export function givenColumns({ key }: TableDef): readonly string[] {
  return key.filter((name) => name !== '_read_at');
}

/**
 * A key as a user writes it: values in the order of the key columns, or `column=value` for any column. Addresses can be raw or
 * user-friendly, hashes base64, base64url or hex, shards and opcodes hex.
 *
 * @throws {UsageError}
 */
export function parseRowKey(table: TableDef, words: readonly string[]): readonly KeyPart[] {
  const byPosition = givenColumns(table);
  let at = 0;
  const parts = words.map((word): KeyPart => {
    const [, name = '', value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    const named = table.columns.find((column) => column.name === name);
    if (named !== undefined) return { column: named, texts: formsOf(named, value) };
    // A hash in base64 ends with the sign.
    if (/[^=]/.test(value)) throw unknownColumn(table, name);
    const next = table.columns.find((column) => column.name === byPosition[at]);
    if (next === undefined) throw tooMany(table, word);
    at += 1;
    return { column: next, texts: formsOf(next, word) };
  });
  if (parts.length > 0 && words.every((word) => word !== '')) return parts;
  throw usage(
    `the key of a row of ${table.name}`,
    'none',
    `${byPosition.length === 0 ? '' : `its key is ${byPosition.join(', ')}; `}any column can be given as name=value`,
  );
}

function unknownColumn(table: TableDef, name: string): UsageError {
  const names = table.columns.map((column) => column.name);
  return usage(
    `a column of ${table.name}`,
    JSON.stringify(name),
    `${didYouMean(name, names)}${suggest('show', table.name)} lists them`,
  );
}

function tooMany(table: TableDef, word: string): UsageError {
  const names = givenColumns(table).join(', ');
  return usage(
    `${names === '' ? 'column=value' : `at most the key of ${table.name} (${names})`}`,
    `${JSON.stringify(word)} as well`,
    `give other columns as name=value; ${suggest('show', table.name)} lists them`,
  );
}

/** The texts of a value as the table may hold it. @throws {UsageError} for a number that is none */
function formsOf(column: ColumnDef, text: string): readonly string[] {
  const kind = kinds[column.kind];
  const forms = formsFor(kind, text);
  const isNumber = /^(INTEGER|BIGINT|DECIMAL.*)$/.test(kind.sql);
  if (!isNumber || forms.every((form) => /^-?\d+$/.test(form))) return forms;
  throw usage(
    `a whole number for ${column.name}`,
    JSON.stringify(text),
    'shards and opcodes can be hex: 8000000000000000, 0x0f8a7ea5',
  );
}

function formsFor(kind: Kind, text: string): readonly string[] {
  switch (kind.wire) {
    case 'hex-shard': {
      const digits = /^(?:0x)?([0-9a-f]{15,16})$/i.exec(text)?.[1];
      return [digits === undefined ? text : String(BigInt.asIntN(64, BigInt(`0x${digits}`)))];
    }
    case 'hex-opcode':
      return [/^0x[0-9a-f]{1,8}$/i.test(text) ? String(BigInt.asIntN(32, BigInt(text))) : text];
    default:
      return kind.physical === 'utf8'
        ? [...new Set([text, rawAddress(text) ?? text, base64Hash(text) ?? text])]
        : [text];
  }
}

/** SQL of the conditions of a key, and its parameters. */
export function keyCondition(parts: readonly KeyPart[]): {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string>>;
} {
  const parameters: Record<string, string> = {};
  const conditions = parts.map(({ column, texts }, at) => {
    const values = texts.map((text, form) => {
      parameters[`k${at}_${form}`] = text;
      return `$k${at}_${form}::${kinds[column.kind].sql}`;
    });
    return `${quoteName(column.name)} IN (${values.join(', ')})`;
  });
  return { sql: conditions.join(' AND '), parameters };
}
