import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { ColumnDef } from '../../src/declare/column.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import type { TableDef } from '../../src/declare/table.ts';
import type { Row } from '../../tools/object-decoder.ts';

/**
 * DuckDB's own reading of a recorded answer: an oracle that shares nothing with the decoder but the declaration's paths.
 * Every value comes as text: numbers in decimal digits, bytes as hex, times in microseconds, dates in days.
 */
export class DuckReading {
  private readonly connection: DuckDBConnection;

  private constructor(connection: DuckDBConnection) {
    this.connection = connection;
  }

  static async open(): Promise<DuckReading> {
    const instance = await DuckDBInstance.create(':memory:');
    return new DuckReading(await instance.connect());
  }

  async rows(pipeline: PipelineDef, table: TableDef, path: string): Promise<readonly Record<string, unknown>[]> {
    const reader = await this.connection.runAndReadAll(selectOf(pipeline, table, path));
    return reader.getRowObjectsJson();
  }

  close(): void {
    this.connection.closeSync();
  }
}

function selectOf(pipeline: PipelineDef, table: TableDef, path: string): string {
  const base = pipeline.tables.find(({ rows }) => rows.kind === 'records') as TableDef;
  const list = base.rows.kind === 'records' ? base.rows.path : '';
  const records = `select unnest((content::json -> '${list}')::json[]) as r from read_text('${path}')`;
  const columns = table.columns.map((def) => `(${expression(table, base, def)})::varchar as "${def.name}"`).join(', ');
  switch (table.rows.kind) {
    case 'records':
      return `with records as (${records}) select ${columns} from (select r, r as o, '' as label from records)`;
    case 'projection': {
      const some = table.rows.anyOf.map((name) => `"${name}" is not null`).join(' or ');
      return `with records as (${records}) select * from (select ${columns} from (select r, r as o from records)) where ${some}`;
    }
    case 'nested': {
      const places = table.rows.places.map(({ path: place, count, label }) =>
        count === 'one'
          ? `select r, r -> '${place}' as o, '${label}' as label from records where r ->> '${place}' is not null`
          : `select r, unnest((r -> '${place}')::json[]) as o, '${label}' as label from records`,
      );
      return `with records as (${records}) select ${columns} from (${places.join(' union all ')})`;
    }
  }
}

function expression(table: TableDef, base: TableDef, def: ColumnDef): string {
  const { origin } = def;
  const named = (owner: TableDef, name: string) => owner.columns.find((column) => column.name === name) as ColumnDef;
  switch (origin.kind) {
    case 'path':
      return value('o', origin.path, def);
    case 'parent': {
      const parent = named(base, origin.column).origin;
      return parent.kind === 'path' ? value('r', parent.path, def) : 'null';
    }
    case 'place':
      return 'label';
    case 'time': {
      const time = `(timestamp '1970-01-01' + to_seconds(${expression(table, base, named(table, origin.column))}))`;
      return def.kind === 'date' ? `datediff('day', date '1970-01-01', ${time}::date)` : `epoch_us(${time})`;
    }
    case 'ask':
    case 'extra':
      return 'null';
  }
}

function value(record: string, pointer: string, def: ColumnDef): string {
  const text = `(${record} ->> '${pointer}')`;
  switch (def.kind) {
    case 'base64-hash':
    case 'raw-address':
    case 'text':
      return text;
    case 'json':
      return `case when ${text} is not null then ${record} -> '${pointer}' end`;
    case 'text-comment':
      return `case when (${record} ->> '${pointer}/@type') = 'text_comment' then ${record} ->> '${pointer}/comment' end`;
    case 'boc':
      return `hex(from_base64(${text}))`;
    case 'bool':
      return `${text}::boolean`;
    case 'decimal-20':
      return `${text}::decimal(20, 0)`;
    case 'decimal-uint64':
      return `${text}::ubigint`;
    case 'decimal-257':
      return text;
    case 'uint64-number':
      return `${text}::ubigint`;
    case 'decimal-38-of-257':
      return `try_cast(${text} as decimal(38, 0))`;
    case 'decimal-38':
      return `${text}::decimal(38, 0)`;
    case 'hex-shard':
      return `case when ('0x' || ${text})::ubigint >= 9223372036854775808 then ('0x' || ${text})::ubigint::hugeint - 18446744073709551616 else ('0x' || ${text})::ubigint end`;
    case 'opcode-hex':
      return `case when ${text}::uinteger >= 2147483648 then ${text}::bigint - 4294967296 else ${text}::bigint end`;
    case 'decimal-int64':
    case 'unix-seconds-string':
    case 'unix-seconds':
    case 'uint32':
    case 'int64-number':
      return `${text}::bigint`;
    case 'int32':
      return `${text}::integer`;
    case 'timestamp':
    case 'date':
      return 'null';
  }
}

/** Our rows in the form that DuckDB's come in, JSON as values, in an order that both can be put into. */
export function asTexts(table: TableDef, rows: readonly (Row | Record<string, unknown>)[]): readonly unknown[] {
  const shown = rows.map((row) =>
    Object.fromEntries(
      table.columns.map(({ name, kind }) => {
        const cell = row[name];
        if (cell === null || cell === undefined) return [name, null];
        if (cell instanceof Uint8Array) return [name, Buffer.from(cell).toString('hex').toUpperCase()];
        return [name, kind === 'json' ? (JSON.parse(String(cell)) as unknown) : String(cell)];
      }),
    ),
  );
  return shown.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
