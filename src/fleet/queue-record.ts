import { z } from 'zod';
import { StoreError } from '../core/errors.ts';

const recordSchema = z.object({ format: z.literal(1), id: z.string().regex(/^\w+$/), network: z.string() });

/** Says which queue belongs to a warehouse: machines may know it by different paths or endpoints. */
export type QueueRecord = Readonly<z.infer<typeof recordSchema>>;

/** Name of the file with the record. */
export const RECORD = 'queue.json';

/** @throws {StoreError} `bad-queue` if it cannot be read */
export function parseRecord(text: string, path: string): QueueRecord {
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new StoreError(`store: expected the record of a queue, got other text in ${path}`, {
      ...{ code: 'bad-queue', cause },
      hint: `remove ${path}: the next run with --queue makes a new one`,
    });
  }
}

export function formatRecord(record: QueueRecord): string {
  return `${JSON.stringify(record)}\n`;
}
