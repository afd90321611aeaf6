import { Column, isSet } from './columns';
import { Block, fit, newBlock, push } from './memory';
import { Table } from './plan';

// Lists of rows, as u32.

const chosen: Block = newBlock();
const nested: Block = newBlock();
const parents: Block = newBlock();
const matching: Block = newBlock();

/** Space for a list of records that the caller writes. */
export function roomForRows(count: u32): usize {
  return fit(chosen, (<usize>count) << 2);
}

/** For each row of the parent, and behind the last, the first row nested in it or in a later one. */
export function startsOf(table: Table): usize {
  const count: usize = table.parent.count + 1;
  const starts = table.starts;
  if (starts.size == count << 2) return starts.at;
  fit(starts, count << 2);
  starts.size = count << 2;
  memory.fill(starts.at, 0, count << 2);
  for (let row: usize = 0; row < table.count; row++) {
    const after = starts.at + ((<usize>load<u32>(table.parentRows.at + (row << 2)) + 1) << 2);
    store<u32>(after, load<u32>(after) + 1);
  }
  let sum: u32 = 0;
  for (let at = starts.at; at < starts.at + (count << 2); at += 4) {
    sum += load<u32>(at);
    store<u32>(at, sum);
  }
  return starts.at;
}

/** The rows nested in some rows of the parent, in the order of those. @returns their number */
export function findNested(table: Table, rows: usize, count: u32): u32 {
  const starts = startsOf(table);
  let size: usize = 0;
  for (let at = rows; at < rows + ((<usize>count) << 2); at += 4) {
    const start = starts + ((<usize>load<u32>(at)) << 2);
    size += load<u32>(start, 4) - load<u32>(start);
  }
  let to = fit(nested, size << 2);
  for (let at = rows; at < rows + ((<usize>count) << 2); at += 4) {
    const start = starts + ((<usize>load<u32>(at)) << 2);
    const end = load<u32>(start, 4);
    for (let row = load<u32>(start); row < end; row++) {
      store<u32>(to, row);
      to += 4;
    }
  }
  return <u32>size;
}

export function nestedRows(): usize {
  return nested.at;
}

/** The rows of the parent that some rows are nested in. */
export function parentsOf(table: Table, rows: usize, count: u32): usize {
  const to = fit(parents, (<usize>count) << 2);
  for (let i: usize = 0; i < count; i++) {
    const row: usize = load<u32>(rows + (i << 2));
    store<u32>(to + (i << 2), load<u32>(table.parentRows.at + (row << 2)));
  }
  return to;
}

export function addColumnTo(list: Block, column: usize): void {
  const at = push(list, sizeof<usize>());
  store<usize>(at, column);
}

/** The rows that have a value in one of some columns. @returns their number */
export function findMatching(list: Block, rows: usize, count: u32): u32 {
  const to = fit(matching, (<usize>count) << 2);
  let found: usize = 0;
  for (let i: usize = 0; i < count; i++) {
    const row = load<u32>(rows + (i << 2));
    for (let at = list.at; at < list.at + list.size; at += sizeof<usize>()) {
      if (!isSet(changetype<Column>(load<usize>(at)), row)) continue;
      store<u32>(to + (found << 2), row);
      found++;
      break;
    }
  }
  return <u32>found;
}

export function matchingRows(): usize {
  return matching.at;
}
