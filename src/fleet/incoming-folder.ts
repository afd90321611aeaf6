import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { StoreError, UsageError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import { ifAny, listFolder, makeFolder, replaceText } from '../files/disk.ts';
import { isObjectUrl } from '../objects/s3-location.ts';
import { requireKind, warehousePath } from '../warehouse/index.ts';

const RECORD = 'queue.json';
const recordSchema = z.object({ format: z.literal(1), id: z.string().regex(/^\w+$/), network: z.string() });

/** Says which queue belongs to a warehouse: machines may know its folder by different paths. */
export type QueueRecord = Readonly<z.infer<typeof recordSchema>>;

/** The folder in which workers leave what they have exported; the run that asks takes it over. */
export class IncomingFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** @throws {UsageError} if the warehouse is one file, which workers cannot write to */
  static async of(warehouse: string): Promise<IncomingFolder> {
    const path = warehousePath(warehouse);
    if (isObjectUrl(path)) {
      throw new UsageError(`usage: expected a folder for --queue, got ${path}`, {
        code: 'wrong-kind',
        hint: 'warehouses in an object store have many writers: give each machine a slice of the range with --slice 1/16',
      });
    }
    const kind = await requireKind(path, undefined);
    if (kind === 'parquet') return new IncomingFolder(join(path, '_incoming'));
    throw new UsageError(`usage: expected a folder of Parquet files for --queue, got ${path}`, {
      code: 'wrong-kind',
      hint: 'choose another --warehouse',
    });
  }

  /** The record of the queue; undefined before the first run with --queue. @throws {StoreError} if it cannot be read */
  async readRecord(): Promise<QueueRecord | undefined> {
    const path = join(this.path, RECORD);
    const text = await ifAny(readFile(path, 'utf8'));
    if (text === undefined) return undefined;
    try {
      return recordSchema.parse(JSON.parse(text));
    } catch (cause) {
      throw new StoreError(`store: expected the record of a queue, got other text in ${path}`, {
        ...{ code: 'bad-queue', cause },
        hint: `remove ${path}: the next run with --queue makes a new one`,
      });
    }
  }

  /** The record, made if there is none. Only the writer of the warehouse may call this. */
  async openRecord(network: string, freshId: () => string): Promise<QueueRecord> {
    const known = await this.readRecord();
    if (known !== undefined) return known;
    const record: QueueRecord = { format: 1, id: freshId(), network };
    await makeFolder(this.path);
    await replaceText(join(this.path, RECORD), `${JSON.stringify(record)}\n`, record.id);
    return record;
  }

  /** The warehouse of one attempt at an order. */
  partPath(name: string): string {
    return join(this.path, name);
  }

  async removePart(name: string): Promise<void> {
    await rm(this.partPath(name), { recursive: true, force: true, maxRetries: 3 });
  }

  /** Removes what killed workers left, but not what begins with some names. */
  async clearParts(kept: readonly string[]): Promise<void> {
    for (const name of await listFolder(this.path)) {
      if (name !== RECORD && !kept.some((prefix) => name.startsWith(prefix))) await this.removePart(name);
    }
  }
}

/** How the names of all attempts at an order begin. */
export function partPrefix(span: Span): string {
  return `${span.from}-${span.to}-`;
}
