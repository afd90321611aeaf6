import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { listFolder } from '../files/disk.ts';
import { diskObjects } from '../objects/disk-objects.ts';
import type { SmallObjects } from '../objects/object-store.ts';
import { openStore, requireKind } from '../warehouse/index.ts';
import type { Attempt, Intake, IntakeOptions, QueuePlace } from './queue-place.ts';
import { INCOMING, openRecord, type QueueRecord, RECORD, readRecord } from './queue-record.ts';
import { takeOver } from './take-over.ts';

/** A warehouse in a folder: workers leave what they have exported in its folder `_incoming`; the run that asks takes it over. */
export class IncomingFolder implements QueuePlace {
  readonly #warehouse: string;
  readonly #path: string;
  readonly #objects: SmallObjects;

  private constructor(warehouse: string) {
    this.#warehouse = warehouse;
    this.#path = join(warehouse, INCOMING);
    this.#objects = diskObjects(warehouse);
  }

  static async of(path: string): Promise<IncomingFolder> {
    const { kind } = await requireKind(path, undefined);
    if (kind === 'parquet') return new IncomingFolder(path);
    throw new UsageError(`usage: expected a folder of Parquet files or s3://bucket/prefix for --queue, got ${path}`, {
      code: 'wrong-kind',
      hint: 'choose another --warehouse',
    });
  }

  readRecord(): Promise<QueueRecord | undefined> {
    return readRecord(this.#objects);
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
        record: await openRecord(this.#objects, network, effects.freshId()),
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
