import { haveCommon, type Span } from '../core/span.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import { openS3Store } from '../objects/s3-store.ts';
import { type LedgerEntry, openReader, openStore, type Reader, spansOf } from '../warehouse/index.ts';
import type { Attempt, Intake, IntakeOptions, QueuePlace } from './queue-place.ts';
import { openRecord, type QueueRecord, readRecord } from './queue-record.ts';

/** A warehouse in an object store: each worker commits to it by itself, and the run that asks reads of its ledger what is done. */
export class SharedBucket implements QueuePlace {
  readonly #url: string;
  readonly #objects: ObjectStore;

  constructor(url: string) {
    this.#url = url;
    this.#objects = openS3Store(url);
  }

  readRecord(): Promise<QueueRecord | undefined> {
    return readRecord(this.#objects);
  }

  /** What an attempt has committed is done; the files of one that was killed are collected as garbage. */
  attempt(): Attempt {
    return { warehouse: this.#url, discard: async () => {} };
  }

  async openIntake({ registry, pipelines, network, effects, command }: IntakeOptions): Promise<Intake> {
    const { tables } = registry;
    // Makes the warehouse, and says if it cannot be written.
    const store = await openStore({
      path: this.#url,
      network,
      effects,
      tables,
      pipelines: registry.pipelines,
      command,
    });
    await store.close();
    const record = await openRecord(this.#objects, network, effects.freshId());
    const reader = await openReader(this.#url, tables);
    const arrivals = new Arrivals(reader, new Set(pipelines.map(({ name }) => name)), await reader.ledger());
    return {
      ...{ record, isExclusive: false },
      ledger: () => reader.ledger(),
      take: (span) => arrivals.within(span),
      clear: async () => {},
      close: () => reader.close(),
    };
  }
}

/** Entries of some pipelines that workers commit from now on. */
class Arrivals {
  readonly #reader: Reader;
  readonly #pipelines: ReadonlySet<string>;
  #last: number;
  #waiting: readonly LedgerEntry[] = [];

  constructor(reader: Reader, pipelines: ReadonlySet<string>, before: readonly LedgerEntry[]) {
    this.#reader = reader;
    this.#pipelines = pipelines;
    this.#last = before.reduce((highest, { number }) => Math.max(highest, number), 0);
  }

  /** Those in some blocks that were not told before. */
  async within(span: Span): Promise<readonly LedgerEntry[]> {
    const fresh = await this.#reader.log(this.#last);
    this.#last = fresh.at(-1)?.number ?? this.#last;
    const own = fresh.filter(({ pipeline, verdict }) => this.#pipelines.has(pipeline) && verdict === 'sealed');
    const all = [...this.#waiting, ...own];
    const isWithin = (entry: LedgerEntry): boolean => haveCommon(spansOf(entry), [span]);
    this.#waiting = all.filter((entry) => !isWithin(entry));
    return all.filter(isWithin);
  }
}
