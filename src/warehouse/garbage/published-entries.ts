import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ifAny, listFolder, makeFolder, replaceText } from '../../files/disk.ts';
import { layoutOf } from '../ledger/ledger-folder.ts';

/**
 * A ledger entry whose state is published for other engines: the files that were in force then stay, also when they were superseded long
 * ago. It is marked before a table names these files, and unmarked when no table does.
 */
export interface PublishedEntry {
  readonly number: number;
  /** Id of the ledger entry; another one tells that the ledger was replaced. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly publishedAt: number;
}

const markSchema = z.object({ id: z.string(), publishedAt: z.number() });

/** Numbers of the published entries, ascending. */
export async function publishedNumbers(warehouse: string): Promise<readonly number[]> {
  const names = await listFolder(layoutOf(warehouse).published);
  return names
    .flatMap((name) => (/^\d{8,}\.json$/.test(name) ? [Number.parseInt(name, 10)] : []))
    .sort((a, b) => a - b);
}

/** The published entries, ascending. */
export async function readPublished(warehouse: string): Promise<readonly PublishedEntry[]> {
  const marks: PublishedEntry[] = [];
  for (const number of await publishedNumbers(warehouse)) {
    const text = await ifAny(readFile(markPath(warehouse, number), 'utf8'));
    // Another publisher may have unmarked it.
    if (text !== undefined) marks.push({ number, ...markSchema.parse(JSON.parse(text)) });
  }
  return marks;
}

/** Marks an entry; the time of an earlier mark of the same entry is replaced. */
export async function markPublished(warehouse: string, { number, id, publishedAt }: PublishedEntry, draft: string) {
  await makeFolder(layoutOf(warehouse).published);
  await replaceText(markPath(warehouse, number), `${JSON.stringify({ id, publishedAt })}\n`, draft);
}

export async function unmarkPublished(warehouse: string, number: number): Promise<void> {
  await rm(markPath(warehouse, number), { force: true });
}

/** True if rows that were in force from entry `from` until entry `until` superseded them are part of a published state. */
export function isPublished(numbers: readonly number[], from: number, until: number): boolean {
  return numbers.some((number) => from <= number && number < until);
}

function markPath(warehouse: string, number: number): string {
  return join(layoutOf(warehouse).published, `${String(number).padStart(8, '0')}.json`);
}
