import {
  boc,
  bool,
  decimal38,
  decimalInt64,
  decimalUint64,
  fromParent,
  hexShard,
  int32,
  int64Number,
  lt,
  nanoton,
  opcodeHex,
  text,
  uint32,
  unixSeconds,
} from '../../src/declare/column.ts';
import { table } from '../../src/declare/table.ts';
import type { Value } from './batches.ts';

/** A table with every type, both nullable and not. */
export const everything = table('everything', {
  grain: 'one row of a test',
  rows: { kind: 'records', path: '/rows' },
  key: ['id'],
  sort: ['id'],
  time: 'now',
  columns: {
    id: lt('/id', 'position'),
    now: unixSeconds('/now', 'time'),
    name: text('/name', 'text'),
    label: text('/label', 'text').nullable(),
    body: boc('/body', 'bytes'),
    init: boc('/init', 'bytes').nullable(),
    flag: bool('/flag', 'truth'),
    maybe: bool('/maybe', 'truth').nullable(),
    count: int32('/count', 'integer'),
    exit_code: int32('/exit_code', 'integer').nullable(),
    opcode: opcodeHex('/opcode', 'opcode').nullable(),
    seqno: uint32('/seqno', 'integer').nullable(),
    shard: hexShard('/shard', 'shard'),
    big: int64Number('/big', 'integer').nullable(),
    value: decimalInt64('/value', 'integer').nullable(),
    query_id: decimalUint64('/query_id', 'number').nullable(),
    amount: decimal38('/amount', 'amount'),
    supply: decimal38('/supply', 'amount').nullable(),
  },
});

export const items = table('items', {
  grain: 'one item of a test',
  rows: { kind: 'records', path: '/items' },
  key: ['hash'],
  sort: ['lt'],
  time: 'now',
  columns: {
    hash: text('/hash', 'text'),
    lt: lt('/lt', 'logical time'),
    now: unixSeconds('/now', 'time'),
    fees: nanoton('/fees', 'amount'),
    comment: text('/comment', 'text').nullable(),
  },
});

/** Nested, without time. */
export const parts = table('parts', {
  grain: 'one part of an item',
  rows: { kind: 'nested', of: 'items', places: [{ path: '/parts', count: 'many', label: 'part' }] },
  key: ['item_hash', 'n'],
  sort: ['item_hash', 'n'],
  columns: {
    item_hash: fromParent('text', 'hash', 'item'),
    n: int32('/n', 'position'),
  },
});

const day0 = 1_777_593_600n;

/** Items of a span: one for each number, `perDay` of them a day from 2026-05-01 on. */
export function itemRows(from: number, to: number, perDay = 1_000_000): Record<string, Value>[] {
  const rows: Record<string, Value>[] = [];
  for (let n = from; n <= to; n++) {
    const now = day0 + BigInt(Math.floor(n / perDay)) * 86_400n + BigInt(n % 1000);
    rows.push({
      hash: `hash-${n}`,
      lt: BigInt(n) * 1000n,
      now,
      fees: BigInt(n % 7),
      comment: n % 3 === 0 ? null : `comment ${n}`,
      block_time: now * 1_000_000n,
      block_date: now / 86_400n,
    });
  }
  return rows;
}

export function partRows(from: number, to: number): Record<string, Value>[] {
  return itemRows(from, to).flatMap(({ hash }) => [
    { item_hash: hash ?? null, n: 0n },
    { item_hash: hash ?? null, n: 1n },
  ]);
}
