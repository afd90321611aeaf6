import { z } from 'zod';
import type { SmallObjects } from '../../objects/object-store.ts';

/**
 * A ledger entry whose state is published for other engines. The files that were in force then stay, however long ago they were superseded.
 * The entry is marked before a table names these files, and unmarked when no table does.
 */
export interface PublishedEntry {
  readonly number: number;
  /** Id of the ledger entry. If the ledger has another id under this number, it was replaced. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly publishedAt: number;
}

/** Folder of the marks. */
export const MARKS = 'iceberg/_entries';
const FOLDER = `${MARKS}/`;
const markSchema = z.object({ id: z.string(), publishedAt: z.number() });

/** The marks of one place where a warehouse is published. */
export class PublishedEntries {
  readonly #objects: SmallObjects;
  readonly #ending: string;

  /** @param target identifies the place, in lower-case hex digits; undefined for the folder of the warehouse itself */
  constructor(objects: SmallObjects, target: string | undefined) {
    this.#objects = objects;
    this.#ending = target === undefined ? '.json' : `.${target}.json`;
  }

  /** The published entries, ascending. */
  async read(): Promise<readonly PublishedEntry[]> {
    const marks: PublishedEntry[] = [];
    for (const { key } of await this.#objects.list(FOLDER)) {
      const number = Number.parseInt(key.slice(FOLDER.length), 10);
      if (key !== this.#keyOf(number)) continue;
      const text = await this.#objects.get(key);
      // Another publisher may have unmarked it.
      if (text !== undefined) marks.push({ number, ...markSchema.parse(JSON.parse(Buffer.from(text).toString())) });
    }
    return marks.sort((a, b) => a.number - b.number);
  }

  /** Marks an entry; the time of an earlier mark of the same entry is replaced. */
  mark({ number, id, publishedAt }: PublishedEntry): Promise<void> {
    return this.#objects.put(this.#keyOf(number), Buffer.from(`${JSON.stringify({ id, publishedAt })}\n`));
  }

  unmark(numbers: readonly number[]): Promise<void> {
    return this.#objects.remove(numbers.map((number) => this.#keyOf(number)));
  }

  #keyOf(number: number): string {
    return `${FOLDER}${String(number).padStart(8, '0')}${this.#ending}`;
  }
}

/** Numbers of the entries that are published anywhere. */
export async function publishedNumbers(objects: SmallObjects): Promise<readonly number[]> {
  const names = (await objects.list(FOLDER)).map(({ key }) => key.slice(FOLDER.length));
  const marks = names.filter((name) => /^\d{8,}(\.[0-9a-f]+)?\.json$/.test(name));
  return [...new Set(marks.map((name) => Number.parseInt(name, 10)))];
}

/** True if rows that were in force from entry `from` until entry `until` superseded them are part of a published state. */
export function isPublished(numbers: readonly number[], from: number, until: number): boolean {
  return numbers.some((number) => from <= number && number < until);
}
