import type { Effects } from '../core/effects.ts';
import type { Span } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import type { QueueRecord } from './queue-record.ts';
import type { WorkResult } from './work-order.ts';

/** What a queue needs of the warehouse it works for. */
export interface QueuePlace {
  /** The record of the queue; undefined before the first run with --queue. @throws {StoreError} `bad-queue` */
  readRecord(): Promise<QueueRecord | undefined>;
  /** For a worker: where the rows of an order go. */
  attempt(span: Span, id: string): Attempt;
  /** For the run that asks. @throws as `openStore` */
  openIntake(options: IntakeOptions): Promise<Intake>;
}

/** One attempt at an order. */
export interface Attempt {
  /** The warehouse to export to. */
  readonly warehouse: string;
  /** Name of that warehouse, if it is one of its own. */
  readonly part?: string;
  /** Removes what nobody will take over. */
  discard(): Promise<void>;
}

export interface IntakeOptions {
  readonly network: string;
  readonly effects: Effects;
  /** The command that is running, for the message to a second writer. */
  readonly command: string;
  readonly registry: Registry;
  readonly pipelines: readonly PipelineDef[];
}

/** How rows of workers get into the warehouse. */
export interface Intake {
  readonly record: QueueRecord;
  /** True if nobody else can write the warehouse meanwhile. */
  readonly isExclusive: boolean;
  /** Entries in force now. */
  ledger(): Promise<readonly LedgerEntry[]>;
  /** Takes over what a worker has brought of an order. @returns the entries that are new since the last call */
  take(span: Span, result: WorkResult | undefined): Promise<readonly LedgerEntry[]>;
  /** Removes what is left of orders that nobody takes over, but not what begins with some names. */
  clear(kept: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
