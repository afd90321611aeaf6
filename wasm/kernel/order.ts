import { BITS, Column, isSet, TEXTS } from './columns';
import { Block, fit, newBlock, push } from './memory';
import { isLess } from './numbers';
import { Table } from './plan';

/** A column that a table is sorted by; of the parent, if `isParents`. */
@unmanaged
class SortColumn {
  column: Column;
  isParents: bool;
}

const left: Block = newBlock();

export function addSortColumn(table: Table, column: Column, isParents: bool): void {
  const one = changetype<SortColumn>(push(table.order, offsetof<SortColumn>()));
  one.column = column;
  one.isParents = isParents;
}

/** Sorts rows as DuckDB does: texts by bytes, nulls last, stable. */
export function sortRows(table: Table, rows: usize, count: u32): void {
  if (table.order.size > 0) sortPart(table, rows, count);
}

function rowAt(rows: usize, i: usize): u32 {
  return load<u32>(rows + (i << 2));
}

function sortPart(table: Table, rows: usize, count: usize): void {
  if (count < 2) return;
  const half = count >> 1;
  const right = rows + (half << 2);
  sortPart(table, rows, half);
  sortPart(table, right, count - half);
  // Rows of pages are nearly sorted.
  if (compareRows(table, rowAt(right, 0), rowAt(rows, half - 1)) >= 0) return;
  fit(left, half << 2);
  memory.copy(left.at, rows, half << 2);
  const end = rows + (count << 2);
  const leftEnd = left.at + (half << 2);
  let a = left.at;
  let b = right;
  let to = rows;
  while (a < leftEnd) {
    const takesRight = b < end && compareRows(table, load<u32>(b), load<u32>(a)) < 0;
    store<u32>(to, load<u32>(takesRight ? b : a));
    if (takesRight) b += 4;
    else a += 4;
    to += 4;
  }
}

function compareRows(table: Table, a: u32, b: u32): i32 {
  const end = table.order.at + table.order.size;
  const parents = table.parentRows.at;
  for (let at = table.order.at; at < end; at += offsetof<SortColumn>()) {
    const one = changetype<SortColumn>(at);
    const order = one.isParents
      ? compareIn(one.column, rowAt(parents, a), rowAt(parents, b))
      : compareIn(one.column, a, b);
    if (order != 0) return order;
  }
  return a < b ? -1 : 1;
}

function compareIn(column: Column, a: u32, b: u32): i32 {
  if (a == b) return 0;
  if (column.nulls > 0 || column.next <= a || column.next <= b) {
    const isLeft = isSet(column, a);
    const isRight = isSet(column, b);
    if (!isLeft || !isRight) return <i32>isRight - <i32>isLeft;
  }
  const width: usize = column.width;
  if (width == BITS) return 0;
  if (width == TEXTS) return compareTexts(column, a, b);
  const one = column.values + <usize>a * width;
  const other = column.values + <usize>b * width;
  if (width == 16) {
    if (isLess(load<u64>(one), load<u64>(one, 8), load<u64>(other), load<u64>(other, 8))) return -1;
    return <i32>isLess(load<u64>(other), load<u64>(other, 8), load<u64>(one), load<u64>(one, 8));
  }
  const x = width == 4 ? load<i32>(one) : load<i64>(one);
  const y = width == 4 ? load<i32>(other) : load<i64>(other);
  return <i32>(x > y) - <i32>(x < y);
}

function compareTexts(column: Column, a: usize, b: usize): i32 {
  const one = column.offsets + (a << 2);
  const other = column.offsets + (b << 2);
  const length = load<u32>(one, 4) - load<u32>(one);
  const otherLength = load<u32>(other, 4) - load<u32>(other);
  const order = memory.compare(
    column.values + load<u32>(one),
    column.values + load<u32>(other),
    min(length, otherLength),
  );
  return order != 0 ? order : <i32>length - <i32>otherLength;
}
