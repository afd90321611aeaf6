import { z } from 'zod';
import { StoreError } from '../core/errors.ts';
import type { SmallObjects } from '../objects/object-store.ts';

const recordSchema = z.object({ format: z.literal(1), id: z.string().regex(/^\w+$/), network: z.string() });

/** Says which queue belongs to a warehouse: machines may know it by different paths or endpoints. */
export type QueueRecord = Readonly<z.infer<typeof recordSchema>>;

/** Folder of a warehouse for what comes from a queue, and the name of the file with the record there. */
export const INCOMING = '_incoming';
export const RECORD = 'queue.json';

const KEY = `${INCOMING}/${RECORD}`;

/** The record of a warehouse, if it has one. @throws {StoreError} `bad-queue` if it cannot be read */
export async function readRecord(warehouse: SmallObjects): Promise<QueueRecord | undefined> {
  const bytes = await warehouse.get(KEY);
  if (bytes === undefined) return undefined;
  try {
    return recordSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch (cause) {
    const path = `${warehouse.url}/${KEY}`;
    throw new StoreError(`store: expected the record of a queue, got other text in ${path}`, {
      ...{ code: 'bad-queue', cause },
      hint: `remove ${path}: the next run with --queue makes a new one`,
    });
  }
}

/** The record of a warehouse, made if there is none; another run may be first. @throws {StoreError} `bad-queue` */
export async function openRecord(warehouse: SmallObjects, network: string, id: string): Promise<QueueRecord> {
  const known = await readRecord(warehouse);
  if (known !== undefined) return known;
  const record: QueueRecord = { format: 1, id, network };
  const isOwn = await warehouse.putIfAbsent(KEY, Buffer.from(`${JSON.stringify(record)}\n`));
  return isOwn ? record : ((await readRecord(warehouse)) ?? record);
}
