import {
  base64Hash,
  boc,
  bool,
  decimal20,
  decimal38,
  decimalInt64,
  decimalUint64,
  hexShard,
  int32,
  int64Number,
  json,
  masterchain,
  opcodeHex,
  pipeline,
  table,
  text,
  textComment,
  uint32,
  unixSeconds,
  unixSecondsString,
} from 'tonlake/pipeline';
import { explainRefusal } from '../../src/decode/explain-refusal.ts';
import type { Cell } from '../../src/decode/read-cell.ts';
import { read } from './reading.ts';

/** A table with one nullable column of each kind, named as its field. */
export const things = pipeline({
  name: 'things',
  doc: 'One column of each kind.',
  endpoint: 'GET /things',
  walk: masterchain({ seqno: 'seqno', proof: 'links', windows: { path: '/things', column: 'lt', order: 'ties' } }),
  tables: [
    table('things', {
      grain: 'a thing',
      rows: { kind: 'records', path: '/things' },
      key: ['id'],
      sort: ['id'],
      columns: {
        id: int32('/id', 'number').nullable(),
        text: text('/text', 'text').nullable(),
        hash: base64Hash('/hash', 'hash').nullable(),
        json: json('/json', 'kept').nullable(),
        comment: textComment('/body', 'comment').nullable(),
        boc: boc('/boc', 'binary').nullable(),
        bool: bool('/bool', 'flag').nullable(),
        int64: decimalInt64('/int64', 'number').nullable(),
        uint64: decimalUint64('/uint64', 'number').nullable(),
        decimal20: decimal20('/decimal20', 'number').nullable(),
        decimal: decimal38('/decimal', 'number').nullable(),
        time: unixSecondsString('/time', 'seconds').nullable(),
        now: unixSeconds('/now', 'seconds').nullable(),
        int32: int32('/int32', 'number').nullable(),
        uint32: uint32('/uint32', 'number').nullable(),
        number: int64Number('/number', 'number').nullable(),
        shard: hexShard('/shard', 'shard').nullable(),
        opcode: opcodeHex('/opcode', 'opcode').nullable(),
        inner: text('/object/inner', 'nested').nullable(),
      },
    }),
  ],
});

/** The cell that a field's JSON text gives, or the reason why the record is refused. */
export function cell(field: string, json: string | Uint8Array, column = field): Cell | { readonly refused: string } {
  const page = Buffer.concat([Buffer.from(`{"things":[{"${field}":`), Buffer.from(json), Buffer.from('}]}')]);
  const { tables, refused } = read(things, page);
  const [record] = refused;
  if (record !== undefined) {
    const { pointer, reason } = explainRefusal(things, record);
    return { refused: `${pointer}: ${reason}` };
  }
  return tables['things']?.[0]?.[column] ?? null;
}
