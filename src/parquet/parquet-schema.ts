import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { ThriftWriter } from './thrift.ts';

const repetition = { optional: 1 } as const;

/** Puts a column as an element of the schema. */
export function encodeColumn(out: ThriftWriter, column: ColumnDef): void {
  const { physical, logical } = parquetType(column);
  out.begin();
  out.i32(1, physical);
  if (logical?.kind === 'decimal') out.i32(2, 16);
  out.i32(3, repetition.optional);
  out.text(4, column.name);
  switch (logical?.kind) {
    case 'string':
      out.i32(6, 0);
      out.begin(10);
      out.empty(1);
      out.end();
      break;
    case 'decimal':
      out.i32(6, 5);
      out.i32(7, 0);
      out.i32(8, logical.precision);
      out.begin(10);
      out.begin(5);
      out.i32(1, 0);
      out.i32(2, logical.precision);
      out.end();
      out.end();
      break;
    case 'date':
      out.i32(6, 6);
      out.begin(10);
      out.empty(6);
      out.end();
      break;
    case 'timestamp':
      // No converted type: the old TIMESTAMP_MICROS would mean "adjusted to UTC".
      out.begin(10);
      out.begin(8);
      out.bool(1, false);
      out.begin(2);
      out.empty(2);
      out.end();
      out.end();
      out.end();
      break;
    case undefined:
      break;
  }
  out.end();
}

type Logical =
  | { readonly kind: 'string' | 'date' | 'timestamp' }
  | { readonly kind: 'decimal'; readonly precision: number };

interface ParquetType {
  /** BOOLEAN 0, INT32 1, INT64 2, BYTE_ARRAY 6, FIXED_LEN_BYTE_ARRAY 7. */
  readonly physical: number;
  readonly logical: Logical | undefined;
}

export function parquetType(column: ColumnDef): ParquetType {
  const { physical, sql } = kinds[column.kind];
  switch (physical) {
    case 'utf8':
      return { physical: 6, logical: { kind: 'string' } };
    case 'binary':
      return { physical: 6, logical: undefined };
    case 'bool':
      return { physical: 0, logical: undefined };
    case 'int32':
      return { physical: 1, logical: sql === 'DATE' ? { kind: 'date' } : undefined };
    case 'int64':
      return { physical: 2, logical: sql === 'TIMESTAMP' ? { kind: 'timestamp' } : undefined };
    case 'decimal128': {
      const precision = /^DECIMAL\((\d+),0\)$/.exec(sql)?.[1];
      return { physical: 7, logical: { kind: 'decimal', precision: Number(precision ?? 38) } };
    }
  }
}
