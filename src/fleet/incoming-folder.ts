import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { ifAny, listFolder, makeFolder, replaceText } from '../files/disk.ts';
import { openStore, requireKind } from '../warehouse/index.ts';
import type { Attempt, Intake, IntakeOptions, QueuePlace } from './queue-place.ts';
import { formatRecord, parseRecord, type QueueRecord, RECORD } from './queue-record.ts';
import { takeOver } from './take-over.ts';

/** A warehouse in a folder: workers leave what they have exported in its folder `_incoming`; the run that asks takes it over. */
export class IncomingFolder implements QueuePlace {
  readonly #warehouse: string;
  readonly #path: string;

  private constructor(warehouse: string) {
    this.#warehouse = warehouse;
    this.#path = join(warehouse, '_incoming');
  }

  static async of(path: string): Promise<IncomingFolder> {
    const kind = await requireKind(path, undefined);
    if (kind === 'parquet') return new IncomingFolder(path);
    throw new UsageError(`usage: expected a folder of Parquet files or s3://bucket/prefix for --queue, got ${path}`, {
      code: 'wrong-kind',
      hint: 'choose another --warehouse',
    });
  }

  async readRecord(): Promise<QueueRecord | undefined> {
    const path = join(this.#path, RECORD);
    const text = await ifAny(readFile(path, 'utf8'));
    return text === undefined ? undefined : parseRecord(text, path);
  }

  /** A worker that seems dead may still write: each attempt has a folder of its own. */
  attempt(span: Span, id: string): Attempt {
    const part = `${partPrefix(span)}${id}`;
    return { part, warehouse: join(this.#path, part), discard: () => this.#removePart(part) };
  }

  async openIntake({ registry, network, effects, command }: IntakeOptions): Promise<Intake> {
    const { tables, pipelines } = registry;
    const store = await openStore({ path: this.#warehouse, network, effects, tables, pipelines, command });
    try {
      return {
        record: await this.#openRecord(network, effects.freshId()),
        isExclusive: true,
        ledger: async () => store.ledger(),
        take: async (span, result) => {
          const { part } = result ?? {};
          if (part === undefined) return [];
          try {
            return await takeOver(store, registry, join(this.#path, part), span);
          } finally {
            await this.#removePart(part);
          }
        },
        clear: (kept) => this.#clearParts(kept),
        close: () => store.close(),
      };
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** The record, made if there is none. Only the writer of the warehouse may call this. */
  async #openRecord(network: string, id: string): Promise<QueueRecord> {
    const known = await this.readRecord();
    if (known !== undefined) return known;
    const record: QueueRecord = { format: 1, id, network };
    await makeFolder(this.#path);
    await replaceText(join(this.#path, RECORD), formatRecord(record), id);
    return record;
  }

  async #removePart(name: string): Promise<void> {
    await rm(join(this.#path, name), { recursive: true, force: true, maxRetries: 3 });
  }

  async #clearParts(kept: readonly string[]): Promise<void> {
    for (const name of await listFolder(this.#path)) {
      if (name !== RECORD && !kept.some((prefix) => name.startsWith(prefix))) await this.#removePart(name);
    }
  }
}

/** How the names of all attempts at an order begin. */
export function partPrefix(span: Span): string {
  return `${span.from}-${span.to}-`;
}
