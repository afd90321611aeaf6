// AssemblyScript: pages of JSON to columns in Arrow's layout, by a plan that lies in linear memory. For the caller, the structures that
// functions take and return are addresses.

// Rows.
export { fillNumber, fillText } from './kernel/columns';
// Pages.
export { unknownAt, unknownCount, unknownNames } from './kernel/extra';
export { gather, gatherTimes } from './kernel/gather';
export { newBlock as newList, setLimit } from './kernel/memory';
// The plan.
export { addSortColumn as sortBy, sortRows as sort } from './kernel/order';
export { brokenAt, roomFor } from './kernel/page';
export {
  addColumn,
  clearTable as clearRows,
  extraOf,
  newKey,
  newNode,
  newTable,
  parentRowsOf,
  rowsIn,
  setBounds,
  setColumns,
  setKey,
  setLabel,
  setTable,
  sizeOfTable as bytesIn,
  truncateTable as truncateRows,
} from './kernel/plan';
export { refusedAt, refusedCount, refusedTexts } from './kernel/refused';
export { loadPage as load } from './kernel/reshape';
export {
  addColumnTo as addToList,
  findMatching as matchingIn,
  findNested as nestedIn,
  matchingRows,
  nestedRows,
  parentsOf as parentsIn,
  roomForRows,
  startsOf as nestedStarts,
} from './kernel/rows';
export { recordCount, scanPage as scan } from './kernel/scan';
