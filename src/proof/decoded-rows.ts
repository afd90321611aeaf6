import { bytesOf } from '../decode/bytes.ts';
import type { Decoder } from '../decode/decoder.ts';
import { decodedColumns, type TableRows } from '../decode/table-rows.ts';
import { type AnyColumn, BoolColumn, BytesColumn } from '../decode/typed-columns.ts';
import type { ProofColumn, ProofRows, ProofTable } from './content-proof.ts';

/** The rows of a decoder, which are read where they are; undefined if it has no messages. */
export function decodedRows(decoder: Decoder): ProofRows | undefined {
  const messages = decoder.nested('messageEnds');
  if (messages?.parent === undefined) return undefined;
  const { parent, parentRows, count } = messages;
  return { transactions: tableOf(parent), messages: tableOf(messages), parents: parentRows, messageCount: count };
}

function tableOf(rows: TableRows): ProofTable {
  const names = new Set(decodedColumns(rows.table).flatMap(({ name, origin }) => (origin.kind === 'path' ? name : [])));
  return (name) => {
    if (name === rows.place?.def.name) return viewOf(rows.place);
    return names.has(name) ? viewOf(rows.named(name)) : undefined;
  };
}

function viewOf(column: AnyColumn): ProofColumn {
  const { next, validity } = column;
  if (column instanceof BytesColumn) {
    return { rows: next, validity, offsets: column.offsets, values: column.bytes, width: 0 };
  }
  if (column instanceof BoolColumn) return { rows: next, validity, offsets: undefined, values: column.bits, width: 0 };
  const { words, width } = column;
  return { rows: next, validity, offsets: undefined, values: bytesOf(words), width: width * 4 };
}
