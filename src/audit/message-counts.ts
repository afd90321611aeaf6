import type { Decoder } from '../decode/decoder.ts';
import type { TableRows } from '../decode/table-rows.ts';
import type { BoolColumn, BytesColumn, WordsColumn } from '../decode/typed-columns.ts';
import { SeenValues } from './seen-values.ts';

/** Messages of one transaction. */
export interface MessageCounts {
  readonly received: number;
  readonly sent: number;
}

/** Properties of a transaction that determine its messages. */
export interface MessageFacts {
  /** `ord`, `tick_tock`; other types have never occurred on chain. */
  readonly type: string | undefined;
  /** True if the action phase succeeded. */
  readonly isDone: boolean;
  /** Messages created by the action phase. */
  readonly created: number;
  /** True if the bounce phase sent the value back. */
  readonly isBounced: boolean;
}

/**
 * Expected messages of a transaction: an ordinary one received one message, a tick-tock none; it sent what its action phase created,
 * and the bounced message. A failed action phase keeps its count of messages, but sends none of them.
 *
 * @returns undefined for other types of transactions, which have never occurred on chain
 */
export function expectedMessages({ type, isDone, created, isBounced }: MessageFacts): MessageCounts | undefined {
  if (type !== 'ord' && type !== 'tick_tock') return undefined;
  return { received: type === 'ord' ? 1 : 0, sent: (isDone ? created : 0) + (isBounced ? 1 : 0) };
}

interface Columns {
  readonly hash: BytesColumn;
  readonly type: BytesColumn;
  readonly success: BoolColumn;
  readonly created: WordsColumn;
  readonly bounce: BytesColumn;
}

/** Values that are compared, as bytes: a text for each would be garbage right away. */
const RECEIVED = Buffer.from('in');
const ORDINARY = Buffer.from('ord');
const TICK_TOCK = Buffer.from('tick_tock');
const BOUNCED = Buffer.from('ok');

/** Compares the messages in a decoder with the transactions that they are nested in. */
export class MessageAudit {
  private readonly columns: Columns;
  private readonly messages: TableRows;
  private readonly places: BytesColumn;
  private readonly hashes: BytesColumn;
  private readonly seen: SeenValues;

  private constructor(columns: Columns, messages: TableRows, places: BytesColumn) {
    this.columns = columns;
    this.messages = messages;
    this.places = places;
    this.hashes = messages.named('msg_hash') as BytesColumn;
    this.seen = new SeenValues(this.hashes);
  }

  /** Undefined for a pipeline without a table of messages. */
  static of(decoder: Decoder): MessageAudit | undefined {
    const messages = decoder.nested('messageEnds');
    if (messages?.place === undefined) return undefined;
    const columns: Columns = {
      hash: decoder.column('hash') as BytesColumn,
      type: decoder.column('descr') as BytesColumn,
      success: decoder.column('action_success') as BoolColumn,
      created: decoder.column('action_msgs_created') as WordsColumn,
      bounce: decoder.column('bounce') as BytesColumn,
    };
    return new MessageAudit(columns, messages, messages.place);
  }

  /** Starts over. */
  begin(): void {
    this.seen.clear(this.messages.count);
  }

  /** Checks the messages of one transaction; calls `accuse` with each faulty transaction and the reason. */
  add(row: number, accuse: (row: number, reason: string) => void): void {
    const counts = { received: 0, sent: 0 };
    const { from, to } = this.messages.nestedRange(row);
    for (let message = from; message < to; message++) {
      if (this.isReceived(message)) counts.received++;
      else {
        counts.sent++;
        this.requireOnce(message, row, accuse);
      }
    }
    const expected = expectedMessages(this.factsOf(row));
    if (expected === undefined) return;
    for (const end of ['received', 'sent'] as const) {
      if (counts[end] === expected[end]) continue;
      const hash = textAt(this.columns.hash, row) ?? '';
      accuse(row, `expected ${expected[end]} ${end} messages of transaction ${hash}, got ${counts[end]}`);
    }
  }

  /** A message includes its sender and a unique logical time, so sent messages have distinct hashes. */
  private requireOnce(message: number, row: number, accuse: (row: number, reason: string) => void): void {
    const other = this.seen.add(message);
    if (other === undefined) return;
    const reason = `expected message ${textAt(this.hashes, message) ?? ''} sent once, got it twice`;
    accuse(row, reason);
    accuse(this.messages.parentRows[other] as number, reason);
  }

  private factsOf(row: number): MessageFacts {
    const { type, success, created, bounce } = this.columns;
    return {
      type: isAt(type, row, ORDINARY) ? 'ord' : isAt(type, row, TICK_TOCK) ? 'tick_tock' : undefined,
      isDone: success.at(row) === true,
      created: created.isSet(row) ? (created.words[row] as number) : 0,
      isBounced: isAt(bounce, row, BOUNCED),
    };
  }

  private isReceived(message: number): boolean {
    return isAt(this.places, message, RECEIVED);
  }
}

function isAt(column: BytesColumn, row: number, value: Uint8Array): boolean {
  if (!column.isSet(row)) return false;
  const { bytes, offsets } = column;
  const from = offsets[row] as number;
  if ((offsets[row + 1] as number) - from !== value.length) return false;
  for (let at = 0; at < value.length; at++) if (bytes[from + at] !== value[at]) return false;
  return true;
}

function textAt(column: BytesColumn, row: number): string | undefined {
  const { bytes, offsets } = column;
  return column.isSet(row) ? bytes.toString('latin1', offsets[row], offsets[row + 1]) : undefined;
}
