import * as z from 'zod';
import type { LedgerEntry } from '../warehouse/index.ts';
import { commitLine } from './commit-line.ts';
import type { DeliveryTarget, Sender } from './delivery-target.ts';
import type { Feed } from './feed.ts';
import { FeedFile } from './feed-file.ts';
import type { FeedView } from './read-rows.ts';
import { requireSameLedger } from './require-same-ledger.ts';

/** The last commit that a target took. */
const positionSchema = z.strictObject({ number: z.int().nonnegative(), id: z.string().nullable() });

type Position = Readonly<z.infer<typeof positionSchema>>;

/** Entries that are read at once: a target may have been away for months. */
const MOST_ENTRIES = 200;

/** Sends a line for each commit to one target, in order. */
export class CommitFeed implements Feed {
  readonly name: string;
  readonly #target: DeliveryTarget;
  readonly #file: FeedFile<Position>;
  #position: Position | undefined;

  constructor(warehouse: string, target: DeliveryTarget) {
    this.name = `on-commit ${target.name}`;
    this.#target = target;
    this.#file = new FeedFile(warehouse, `on-commit-${target.key}`, (value) => positionSchema.parse(value));
  }

  lockPath(): Promise<string> {
    return this.#file.lockPath();
  }

  async begin(view: FeedView): Promise<void> {
    this.#position = await this.#file.read();
    if (this.#position === undefined) return this.#put(await lastOf(view));
    await this.#newerThan(view, this.#position, 1);
  }

  async deliver(view: FeedView, sender: Sender): Promise<void> {
    for (;;) {
      const position = this.#position ?? START;
      const entries = await this.#newerThan(view, position, MOST_ENTRIES);
      if (entries.length === 0) return;
      for (const entry of entries) {
        await sender(this.#target, commitLine(entry));
        await this.#put({ number: entry.number, id: entry.id });
      }
    }
  }

  async #newerThan(view: FeedView, { number, id }: Position, most: number): Promise<readonly LedgerEntry[]> {
    const log = await view.log(Math.max(0, number - 1), most + 1);
    requireSameLedger(log, { number, id }, await this.#file.howToForget());
    return log.filter((entry) => entry.number > number);
  }

  async #put(position: Position): Promise<void> {
    await this.#file.write(position);
    this.#position = position;
  }
}

const START: Position = { number: 0, id: null };

/** The newest commit. */
async function lastOf(view: FeedView): Promise<Position> {
  let last = START;
  // Entries in force are few; others may come after the last of them.
  const newest = (await view.ledger()).at(-1);
  if (newest !== undefined) last = { number: newest.number, id: newest.id };
  for (const { number, id } of await view.log(last.number)) last = { number, id };
  return last;
}
