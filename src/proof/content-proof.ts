import { type Module, memoryOf, openModule } from '../core/web-assembly.ts';
import { messageColumns, transactionColumns } from './proof-columns.ts';
import { verdicts } from './verdicts.ts';

/**
 * How transactions are proven. `cells`: by their hashes. `facts`: only by what else must hold, because the hashes of the network are not
 * those of cells. `none`: not at all.
 */
export type ContentMode = 'cells' | 'facts' | 'none';

/** A column in Arrow's memory layout; rows from `rows` on are null. */
export interface ProofColumn {
  readonly rows: number;
  /** One bit per row, least significant first. */
  readonly validity: Uint8Array;
  /** Of texts and bytes: rows + 1 positions in `values`. */
  readonly offsets: Int32Array | undefined;
  readonly values: Uint8Array;
  /** Bytes of each row; 0 for bits, and for texts and bytes. */
  readonly width: number;
  /** If columns share values and offsets: its position among the offsets of a row, and their number; those after the last column are ends. */
  readonly place?: { readonly at: number; readonly of: number };
}

/** Rows of a table, by column. */
export type ProofTable = (name: string) => ProofColumn | undefined;

/** Transactions, and their messages. */
export interface ProofRows {
  readonly transactions: ProofTable;
  readonly messages: ProofTable;
  /** For each message the row of its transaction, ascending. */
  readonly parents: Int32Array;
  readonly messageCount: number;
}

/** A message whose opcode is not the first 32 bits of its body. */
export interface WrongOpcode {
  readonly row: number;
  /** Undefined if the body has fewer bits. */
  readonly opcode: number | undefined;
}

/** The exports of `wasm/proof.ts`. */
interface Prover extends Module {
  columnsAt(): number;
  prove(transactions: number, messages: number, parents: number, work: number, isHashed: boolean): number;
  verdictOf(row: number): number;
  stateOf(message: number): number;
  isOpcodeWrong(message: number): number;
  opcodeOf(message: number): number;
}

/** Transactions proven at once: enough to fill the lanes of SHA-256, and few enough for the cache of the processor. */
const CHUNK = 512;
/** A state of messages in `wasm/content/messages.ts`. */
const UNKNOWN_STATE = 2;
export const CONTRADICTED = verdicts.indexOf('contradicted');

let loaded: Prover | undefined;

/** What a range of transactions shows. */
export interface ContentProof {
  /** The position of each one's verdict in `verdicts`. */
  readonly verdicts: Uint8Array;
  readonly wrongOpcodes: readonly WrongOpcode[];
  /** Messages whose cells the API does not determine, such as outgoing ones to an address outside of TON. */
  readonly unknownMessages: readonly number[];
}

/**
 * Rebuilds the cells of the transactions from one row to before another, and compares them with their hashes.
 *
 * @param isHashed false if the hashes of the network are not those of cells: then only what else must hold is checked
 */
export function proveContent(rows: ProofRows, from: number, to: number, isHashed = true): ContentProof {
  loaded ??= openModule<Prover>('proof');
  const prover = loaded;
  const columns = {
    transactions: transactionColumns.map((name) => rows.transactions(name)),
    messages: messageColumns.map((name) => rows.messages(name)),
  };
  const hasOpcodes = rows.messages('opcode') !== undefined;
  const found = new Uint8Array(to - from);
  const wrongOpcodes: WrongOpcode[] = [];
  const unknownMessages: number[] = [];
  const proveFrom = (first: number, end: number): void => {
    const [messageFrom, messageTo] = [firstAtLeast(rows, first), firstAtLeast(rows, end)];
    if (!proveChunk(prover, rows, columns, { from: first, to: end, messageFrom, messageTo, isHashed })) {
      // No transaction of the chain has more cells than there is room for.
      if (end - first === 1) found[first - from] = CONTRADICTED;
      else {
        const middle = (first + end) >> 1;
        proveFrom(first, middle);
        proveFrom(middle, end);
      }
      return;
    }
    for (let row = first; row < end; row++) found[row - from] = prover.verdictOf(row - first);
    for (let row = messageFrom; row < messageTo; row++) {
      const own = row - messageFrom;
      if (prover.stateOf(own) === UNKNOWN_STATE) unknownMessages.push(row);
      if (!hasOpcodes || prover.isOpcodeWrong(own) === 0) continue;
      const opcode = prover.opcodeOf(own);
      wrongOpcodes.push({ row, opcode: opcode < -(2 ** 31) ? undefined : opcode });
    }
  };
  for (let first = from; first < to; first += CHUNK) proveFrom(first, Math.min(first + CHUNK, to));
  return { verdicts: found, wrongOpcodes, unknownMessages };
}

/** The first message of a transaction from `row` on. */
function firstAtLeast({ parents, messageCount }: ProofRows, row: number): number {
  let low = 0;
  let high = messageCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((parents[middle] as number) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Chunk {
  readonly from: number;
  readonly to: number;
  readonly messageFrom: number;
  readonly messageTo: number;
  readonly isHashed: boolean;
}

const ALIGNMENT = 16;
/** Numbers that describe a column: rows, addresses of validity, offsets and values, width, first bit, and bytes between offsets. */
const DESCRIPTION = 7;

/** Columns in the order of their names in `proof-columns.ts`. */
interface Columns {
  readonly transactions: readonly (ProofColumn | undefined)[];
  readonly messages: readonly (ProofColumn | undefined)[];
}

/** False if the transactions have too many cells for one chunk. */
function proveChunk(prover: Prover, { parents: all }: ProofRows, columns: Columns, chunk: Chunk): boolean {
  const { from, to, messageFrom, messageTo, isHashed } = chunk;
  const bounds: Bounds = new Map();
  const slices = [
    ...columns.transactions.map((column) => sliceOf(column, from, to, bounds)),
    ...columns.messages.map((column) => sliceOf(column, messageFrom, messageTo, bounds)),
  ];
  const [count, messages] = [to - from, messageTo - messageFrom];
  let at = prover.start();
  const place = (bytes: number): number => {
    const placed = at;
    at = (at + bytes + ALIGNMENT) & -ALIGNMENT;
    return placed;
  };
  // Columns that share values share their place.
  const placed = new Map<Uint8Array | Int32Array, { readonly bytes: Uint8Array; readonly address: number }>();
  const placeOf = ({ bytes, of }: Piece): number => {
    const { address } = placed.get(of) ?? { address: place(bytes.length) };
    placed.set(of, { bytes, address });
    return address;
  };
  const places = slices.map((slice) => slice && PARTS.map((part) => placeOf(slice[part])));
  const parents = place(messages * 4);
  const work = (at + 64) & ~63;
  const memory = memoryOf(prover, work);
  const bytes = new Uint8Array(memory);
  const description = new Uint32Array(memory, prover.columnsAt(), slices.length * DESCRIPTION).fill(0);
  for (const piece of placed.values()) bytes.set(piece.bytes, piece.address);
  for (const [index, slice] of slices.entries()) {
    if (slice === undefined) continue;
    const [validity = 0, offsets = 0, values = 0] = places[index] ?? [];
    const { at, of } = slice.place;
    // Offsets are positions in all values of the column, of which only some are placed.
    const numbers = [slice.rows, validity, offsets + 4 * at, values - slice.first, slice.width, slice.shift, 4 * of];
    description.set(numbers, index * DESCRIPTION);
  }
  const own = new Int32Array(memory, parents, messages);
  for (let row = 0; row < messages; row++) own[row] = (all[messageFrom + row] as number) - from;
  return prover.prove(count, messages, parents, work, isHashed) !== 0;
}

const PARTS = ['validity', 'offsets', 'values'] as const;

/** Bytes to be placed, and the array that they are a part of. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly of: Uint8Array | Int32Array;
}

/** Some rows of a column, as bytes. */
interface Slice {
  readonly rows: number;
  readonly validity: Piece;
  readonly offsets: Piece;
  readonly values: Piece;
  readonly width: number;
  /** Position of the first row among the bits of its byte. */
  readonly shift: number;
  /** Position of the first value among those of the column. */
  readonly first: number;
  readonly place: { readonly at: number; readonly of: number };
}

const ALONE = { at: 0, of: 1 } as const;
const NOTHING: Piece = { bytes: new Uint8Array(), of: new Uint8Array() };

/** First and last position in the values of a slice, by the offsets, which columns may share. */
type Bounds = Map<Int32Array, readonly [first: number, last: number]>;

function sliceOf(column: ProofColumn | undefined, from: number, to: number, bounds: Bounds): Slice | undefined {
  const end = Math.min(to, column?.rows ?? 0);
  if (column === undefined || end <= from) return undefined;
  const { offsets, values, width, place = ALONE } = column;
  const bits = (of: Uint8Array): Piece => ({ bytes: of.subarray(from >> 3, (end + 7) >> 3), of });
  const shared = { rows: end - from, validity: bits(column.validity), width, shift: from & 7, place };
  if (offsets !== undefined) {
    const own = offsets.subarray(from * place.of, end * place.of + (place.of === 1 ? 1 : 0));
    const [first, last] = bounds.get(offsets) ?? boundsOf(own, place.of);
    bounds.set(offsets, [first, last]);
    return {
      ...shared,
      offsets: { bytes: new Uint8Array(own.buffer, own.byteOffset, own.byteLength), of: offsets },
      values: { bytes: values.subarray(first, last), of: values },
      first,
    };
  }
  const own = width === 0 ? bits(values) : { bytes: values.subarray(from * width, end * width), of: values };
  return { ...shared, offsets: NOTHING, values: own, first: 0 };
}

/** The bounds of a slice. Rows that share values may be in any order. */
function boundsOf(offsets: Int32Array, of: number): readonly [first: number, last: number] {
  let [first, last] = [offsets[0] as number, offsets[offsets.length - 1] as number];
  for (let at = 0; of > 1 && at < offsets.length; at += of) {
    first = Math.min(first, offsets[at] as number);
    last = Math.max(last, offsets[at + of - 1] as number);
  }
  return [first, last];
}
