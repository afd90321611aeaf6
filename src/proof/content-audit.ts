import type { RoleName } from '../declare/roles.ts';
import { bytesOf } from '../decode/bytes.ts';
import type { Decoder } from '../decode/decoder.ts';
import { decodedColumns, type TableRows } from '../decode/table-rows.ts';
import { type AnyColumn, BoolColumn, BytesColumn } from '../decode/typed-columns.ts';
import {
  CONTRADICTED,
  type ContentMode,
  type ProofColumn,
  type ProofRows,
  type ProofTable,
  proveContent,
} from './content-proof.ts';
import type { Correction } from './corrections.ts';
import { lackingColumns } from './proof-columns.ts';
import { correctionFor, verdicts, WRONG_OPCODE } from './verdicts.ts';

/** Results of a content proof: transactions by verdict, and the numbers of unknown and of corrected messages. */
export type ContentCounts = Readonly<Record<string, number>>;

const UNDECIDED = 0;

/** Proves the transactions of a decoder by their hashes, each once. */
export class ContentAudit {
  private readonly decoder: Decoder;
  private found = new Uint8Array(1024);
  private proven = 0;
  private readonly opcodes = new Map<string, Correction>();
  /** Transactions with unknown messages, and with corrected ones, by row. */
  private readonly unknown = new Map<number, number>();
  private readonly corrected = new Map<number, number>();
  private readonly lacking: readonly string[];

  constructor(decoder: Decoder) {
    this.decoder = decoder;
    this.lacking = lackingColumns(decoder.pipeline);
  }

  /** Drops all results, when the rows are dropped. */
  clear(): void {
    this.proven = 0;
    this.opcodes.clear();
    this.unknown.clear();
    this.corrected.clear();
  }

  /** Proves the rows that were added since the last call. */
  prove(mode: ContentMode): void {
    const { records } = this.decoder;
    if (mode === 'none' || this.lacking.length > 0 || records <= this.proven) return;
    const rows = decodedRows(this.decoder);
    const messages = this.decoder.nested('messageEnds');
    if (rows === undefined || messages === undefined) return;
    if (records > this.found.length) this.found = grown(this.found, records);
    const { verdicts: own, wrongOpcodes, unknownMessages } = proveContent(rows, this.proven, records, mode === 'cells');
    this.found.set(own, this.proven);
    for (const { row, opcode } of wrongOpcodes) {
      const key = textAt(messages, 'msg_hash', row);
      this.opcodes.set(key, { error: WRONG_OPCODE, key, values: { opcode: opcode ?? null } });
      count(this.corrected, rows.parents[row] as number);
    }
    // Without cells, all messages are unknown.
    if (mode === 'cells') for (const row of unknownMessages) count(this.unknown, rows.parents[row] as number);
    this.proven = records;
  }

  isContradicted(row: number): boolean {
    return row < this.proven && this.found[row] === CONTRADICTED;
  }

  /** Counts the verdicts of some rows. */
  counts(rows: Int32Array): ContentCounts {
    const counts: Record<string, number> = {};
    const add = (name: string, more: number): void => {
      if (more > 0) counts[name] = (counts[name] ?? 0) + more;
    };
    for (const row of rows) {
      add(row < this.proven ? nameOf(this.found[row] as number) : 'unchecked', 1);
      add('unknown-messages', this.unknown.get(row) ?? 0);
      add(WRONG_OPCODE, this.corrected.get(row) ?? 0);
    }
    return counts;
  }

  /** Corrections of some transactions, and of all messages, which other transactions may repeat; by the role of their table. */
  corrections(rows: Int32Array): Readonly<Partial<Record<RoleName, readonly Correction[]>>> {
    const counted: Correction[] = [];
    for (const row of rows) {
      const correction = row < this.proven ? correctionFor(verdicts[this.found[row] as number] ?? '') : undefined;
      if (correction !== undefined) counted.push({ ...correction, key: this.keyOf(row) });
    }
    return { counted, messageEnds: [...this.opcodes.values()] };
  }

  /** Hash of a transaction. */
  keyOf(row: number): string {
    const column = this.decoder.column('hash');
    return column instanceof BytesColumn
      ? column.bytes.toString('latin1', column.offsets[row], column.offsets[row + 1])
      : '';
  }
}

function nameOf(verdict: number): string {
  const name = verdicts[verdict] ?? 'undecided';
  return verdict === UNDECIDED ? 'unchecked' : (correctionFor(name)?.error ?? name);
}

function grown(bytes: Uint8Array, least: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(least, bytes.length * 2));
  larger.set(bytes);
  return larger;
}

function count(counts: Map<number, number>, row: number): void {
  counts.set(row, (counts.get(row) ?? 0) + 1);
}

function textAt(rows: TableRows, name: string, row: number): string {
  const column = rows.named(name);
  return column instanceof BytesColumn
    ? column.bytes.toString('latin1', column.offsets[row], column.offsets[row + 1])
    : '';
}

/** Views of the rows of a decoder, without copies; undefined if it has no messages. */
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
