import { messageColumns, transactionColumns } from './proof-columns.ts';
import { ProofMemory } from './proof-memory.ts';
import { verdicts } from './verdicts.ts';

/**
 * How transactions are proven. `cells`: by their hashes. `facts`: only by other invariants, because the hashes of the network are not
 * hashes of cells. `none`: not at all.
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

/** Transactions proven at once: enough to fill the lanes of SHA-256, and few enough for the cache of the processor. */
const BATCH = 128;
/** A state of messages in `wasm/content/message-table.ts`. */
const UNKNOWN_STATE = 2;
export const CONTRADICTED = verdicts.indexOf('contradicted');

let loaded: ProofMemory | undefined;

/** Result for a range of transactions. */
export interface ContentProof {
  /** Index into `verdicts`, for each transaction. */
  readonly verdicts: Uint8Array;
  readonly wrongOpcodes: readonly WrongOpcode[];
  /** Messages whose cells the API does not determine, such as outgoing ones to an address outside of TON. */
  readonly unknownMessages: readonly number[];
}

/**
 * Rebuilds the cells of the transactions from one row to before another, and compares them with their hashes.
 *
 * @param isHashed false if the hashes of the network are not hashes of cells: then only other invariants are checked
 */
export function proveContent(rows: ProofRows, from: number, to: number, isHashed = true): ContentProof {
  loaded ??= new ProofMemory();
  const memory = loaded;
  memory.clear(transactionColumns.length + messageColumns.length);
  const [messageFrom, messageTo] = [firstAtLeast(rows, from), firstAtLeast(rows, to)];
  // Rows that share a byte of bits are placed together.
  const [first, firstMessage] = [from & ~7, messageFrom & ~7];
  for (const [at, name] of transactionColumns.entries()) place(memory, at, rows.transactions(name), first, to);
  for (const [at, name] of messageColumns.entries())
    place(memory, transactionColumns.length + at, rows.messages(name), firstMessage, messageTo);
  const messages = messageTo - firstMessage;
  const parents = memory.reserve(4 * messages);
  const words = memory.words(parents, messages);
  for (let at = 0; at < messages; at++) words[at] = (rows.parents[firstMessage + at] as number) - first;
  const hasOpcodes = rows.messages('opcode') !== undefined;
  const placed = { from: from - first, to: to - first, messages, parents, hasOpcodes };
  const { verdicts, wrongOpcodes, unknownMessages } = provePlaced(memory, placed, isHashed);
  return {
    verdicts,
    wrongOpcodes: wrongOpcodes.map(({ row, opcode }) => ({ row: row + firstMessage, opcode })),
    unknownMessages: unknownMessages.map((row) => row + firstMessage),
  };
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

/** Places the rows of a column from one, a multiple of 8, to before another. */
function place(memory: ProofMemory, index: number, column: ProofColumn | undefined, from: number, to: number): void {
  const end = Math.min(to, column?.rows ?? 0);
  if (column === undefined || end <= from) return;
  const { offsets, values, width } = column;
  const bits = (of: Uint8Array): number => memory.put(of.subarray(from >> 3, (end + 7) >> 3));
  const placed = { rows: end - from, validity: bits(column.validity), offsets: 0, width };
  if (offsets === undefined) {
    const own = width === 0 ? bits(values) : memory.put(values.subarray(from * width, end * width));
    memory.describe(index, { ...placed, values: own });
    return;
  }
  const own = offsets.subarray(from, end + 1);
  const [first, last] = [own[0] as number, own[own.length - 1] as number];
  const at = memory.put(new Uint8Array(own.buffer, own.byteOffset, own.byteLength));
  // Offsets are positions in all values of the column, of which only some are placed.
  memory.describe(index, { ...placed, offsets: at, values: memory.put(values.subarray(first, last)) - first });
}

/** Rows whose columns are in memory. */
export interface PlacedRows {
  /** The transactions to be proven: from one row to before another. */
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  /** Address of the row of each message's transaction, -1 for none. */
  readonly parents: number;
  readonly hasOpcodes: boolean;
}

/** As `proveContent`. Verdicts begin with that of the first transaction. */
export function provePlaced(memory: ProofMemory, placed: PlacedRows, isHashed: boolean): ContentProof {
  const { prover } = memory;
  const { from, to, messages, parents, hasOpcodes } = placed;
  const starts = memory.reserve(4 * (to + 2));
  const order = memory.reserve(4 * messages);
  const work = memory.rest();
  prover.groupMessages(parents, messages, to, starts, order);
  const found = new Uint8Array(to - from);
  const wrongOpcodes: WrongOpcode[] = [];
  const unknownMessages: number[] = [];
  const proveFrom = (first: number, end: number): void => {
    if (prover.prove(first, end, starts, order, work, isHashed) === 0) {
      // No transaction of the chain has more cells than there is room for.
      if (end - first === 1) found[first - from] = CONTRADICTED;
      else {
        const middle = (first + end) >> 1;
        proveFrom(first, middle);
        proveFrom(middle, end);
      }
      return;
    }
    for (let row = first; row < end; row++) found[row - from] = prover.verdictOf(row);
    const [messageFrom = 0, messageTo = 0] = [memory.words(starts, to + 1)[first], memory.words(starts, to + 1)[end]];
    for (let at = 0; at < messageTo - messageFrom; at++) {
      if (prover.stateOf(at) === UNKNOWN_STATE) unknownMessages.push(prover.rowOf(at));
      if (!hasOpcodes || prover.isOpcodeWrong(at) === 0) continue;
      const opcode = prover.opcodeOf(at);
      wrongOpcodes.push({ row: prover.rowOf(at), opcode: opcode < -(2 ** 31) ? undefined : opcode });
    }
  };
  for (let first = from; first < to; first += BATCH) proveFrom(first, Math.min(first + BATCH, to));
  return { verdicts: found, wrongOpcodes, unknownMessages };
}
