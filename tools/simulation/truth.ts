import { spansOf, doneSpans } from '../../src/warehouse/ledger/done-spans.ts';
import { stillForgotten } from '../../src/warehouse/ledger/forgotten-spans.ts';
import type { LedgerFolder } from '../../src/warehouse/ledger/ledger-folder.ts';
import type { LedgerEntry } from '../../src/warehouse/store.ts';

/** A version of the rows of each block, by pipeline and block, or `forgotten`. */
export type Rows = ReadonlyMap<string, number | 'forgotten'>;

/** A row of a simulated data file: the version of what a pipeline has of a block. */
export type Row = readonly [pipeline: string, block: number, version: number];

/** What a commit is meant to change. */
interface Change {
  /** Entries that it consists of. */
  readonly parts: number;
  readonly rows: readonly Row[];
  /** Blocks that leave on purpose. */
  readonly forgotten: readonly (readonly [pipeline: string, block: number])[];
}

/** The parts of an entry file that the truth relies on: the rest is for the code that is tested. */
type RawEntry = Pick<LedgerEntry, 'id' | 'number' | 'commitWith' | 'unknownKeys' | 'tables'>;

/** What lies in the warehouse, read beside all code of it. */
export interface Disk {
  /** Text of an entry; undefined if there is none. */
  entry(number: number): string | undefined;
  /** Bytes of a data file where a reader finds it now; undefined if it is not there. */
  file(path: string): Buffer | undefined;
}

const keyOf = (pipeline: string, block: number): string => `${pipeline} ${block}`;

/** What a warehouse should have: it knows what each commit meant, and looks at the numbers of entries and at nothing else of the ledger. */
export class Truth {
  readonly #disk: Disk;
  readonly #changes = new Map<number, Change>();
  /** Ids of the entries of merged files: they change nothing. */
  readonly #merges = new Set<string>();
  /** Texts of entries whose commits were answered. */
  readonly #promised = new Map<number, string>();
  /** What is there after each entry; the first one is before all. */
  #states: Rows[] = [new Map()];
  #entries: RawEntry[] = [];
  #texts: string[] = [];

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Notes what a commit is about to change. @returns its number, for `unknownKeys` of its entries */
  intend(change: Change): number {
    const id = this.#changes.size + 1;
    this.#changes.set(id, change);
    return id;
  }

  /** Notes that the entry with this id is a merge. */
  intendMerge(id: string): void {
    this.#merges.add(id);
  }

  /** A commit was answered: nothing may take it away any more. */
  promise(entries: readonly LedgerEntry[]): void {
    for (const { number } of entries) {
      const text = this.#disk.entry(number);
      if (text === undefined) throw new Error(`entry ${number} was committed, and is not there`);
      this.#promised.set(number, text);
    }
  }

  /** Number of the last entry. */
  get last(): number {
    this.#look();
    return this.#entries.length;
  }

  /** Forgets what it has read: entries whose commits were not answered may be gone. @throws if one that was answered is */
  lookAgain(): void {
    this.#states = [new Map()];
    this.#entries = [];
    this.#texts = [];
    for (const [number, text] of this.#promised) {
      if (this.#disk.entry(number) !== text) throw new Error(`entry ${number} was committed, and is lost or changed`);
    }
  }

  /** Numbers of the entries of complete commits, from after a number to another. */
  complete(after: number, to: number): readonly number[] {
    this.#look();
    const known = this.#entries.slice(0, to);
    const ids = new Set(known.map(({ id }) => id));
    return known.flatMap(({ number, commitWith }) =>
      number > after && (commitWith === undefined || ids.has(commitWith)) ? [number] : [],
    );
  }

  /** Compares what code reads from a ledger with what is true at its last entry. @returns the files in force */
  check(ledger: LedgerFolder): readonly string[] {
    const { entries } = ledger;
    const expected = this.#stateAt(entries.lastNumber);
    const files = entries.effective.flatMap(({ tables }) => Object.values(tables).flatMap((table) => table.files));
    const found = new Map<string, number>();
    for (const { path, bytes } of files) {
      const content = this.#disk.file(path);
      if (content?.length !== bytes) throw new Error(`${path} has ${content?.length} of ${bytes} bytes`);
      for (const [pipeline, block, version] of rowsIn(content)) {
        const key = keyOf(pipeline, block);
        if (found.has(key)) throw new Error(`${key} is there twice, as of ${found.get(key)} and ${version}`);
        found.set(key, version);
      }
    }
    const rows = [...expected].filter(([, version]) => version !== 'forgotten');
    const wrong = rows.find(([key, version]) => found.get(key) !== version);
    if (wrong !== undefined)
      throw new Error(`at entry ${entries.lastNumber}, ${wrong[0]} is ${found.get(wrong[0])} instead of ${wrong[1]}`);
    if (rows.length !== found.size) {
      const more = [...found.keys()].filter((key) => typeof expected.get(key) !== 'number');
      throw new Error(`at entry ${entries.lastNumber}, ${more[0]} is there and was never committed`);
    }
    this.#checkCoverage(entries.effective, entries.forgotten, expected);
    return files.map(({ path }) => path);
  }

  /** What the code says of blocks is what is there of them. */
  #checkCoverage(ledger: readonly LedgerEntry[], forgotten: readonly LedgerEntry[], expected: Rows): void {
    const said = new Map<string, 'done' | 'forgotten'>();
    for (const pipeline of new Set([...ledger, ...forgotten].map((entry) => entry.pipeline))) {
      for (const block of blocksOf(doneSpans(ledger, pipeline))) said.set(keyOf(pipeline, block), 'done');
    }
    for (const { pipeline, spans } of stillForgotten(forgotten, ledger)) {
      for (const block of blocksOf(spans)) said.set(keyOf(pipeline, block), 'forgotten');
    }
    for (const key of new Set([...said.keys(), ...expected.keys()])) {
      const version = expected.get(key);
      const is = typeof version === 'number' ? 'done' : version;
      if (said.get(key) !== is) throw new Error(`${key} is said to be ${said.get(key)}, and is ${is}`);
    }
  }

  #stateAt(number: number): Rows {
    this.#look();
    const state = this.#states[number];
    if (state === undefined) throw new Error(`entry ${number} was read, and is not there`);
    return state;
  }

  /** Reads entries that are new. Those that were read stay as they are. */
  #look(): void {
    for (const [at, text] of this.#texts.entries()) {
      if (at >= this.#texts.length - 2 && this.#disk.entry(at + 1) !== text) throw new Error(`entry ${at + 1} has changed`);
    }
    for (;;) {
      const text = this.#disk.entry(this.#entries.length + 1);
      if (text === undefined) return;
      const entry: RawEntry = JSON.parse(text);
      this.#texts.push(text);
      this.#entries.push(entry);
      this.#states.push(this.#after(entry));
    }
  }

  #after(entry: RawEntry): Rows {
    const before = this.#states.at(-1) ?? new Map();
    if (entry.commitWith !== undefined) return before;
    if (this.#merges.has(entry.id)) return before;
    const change = this.#changes.get(entry.unknownKeys ?? 0);
    if (change === undefined) throw new Error(`entry ${entry.number} was never meant`);
    const parts = this.#entries.filter(({ commitWith }) => commitWith === entry.id).length + 1;
    if (parts !== change.parts) throw new Error(`entry ${entry.number} ends a commit of ${parts} of ${change.parts}`);
    const after = new Map(before);
    for (const [pipeline, block] of change.forgotten) after.set(keyOf(pipeline, block), 'forgotten');
    for (const [pipeline, block, version] of change.rows) after.set(keyOf(pipeline, block), version);
    return after;
  }
}

export function rowsIn(content: Uint8Array): readonly Row[] {
  return JSON.parse(Buffer.from(content).toString());
}

/** The blocks of some spans. */
export function blocksOf(spans: ReturnType<typeof spansOf>): readonly number[] {
  return spans.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
}
