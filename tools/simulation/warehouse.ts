import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Of } from '../../src/core/sha256.ts';
import { type Span, subtractSpans } from '../../src/core/span.ts';
import type { PipelineDef } from '../../src/declare/pipeline.ts';
import { writeSynced } from '../../src/files/disk.ts';
import type { Backend } from '../../src/warehouse/backend.ts';
import { bucketBackend } from '../../src/warehouse/bucket-store/bucket-backend.ts';
import { mergeGroup } from '../../src/warehouse/compaction/compact.ts';
import { splitFiles } from '../../src/warehouse/compaction/merge-group.ts';
import { planMerges } from '../../src/warehouse/compaction/plan-merges.ts';
import type { StageMerge } from '../../src/warehouse/compaction/stage-merge.ts';
import { pathOfFile } from '../../src/warehouse/file-layout.ts';
import { openFilesWriter } from '../../src/warehouse/files-writer.ts';
import { covering, doneSpans, FORGOTTEN, spansOf } from '../../src/warehouse/ledger/done-spans.ts';
import { folderBackend } from '../../src/warehouse/parquet-store/folder-backend.ts';
import { FolderWrites } from '../../src/warehouse/parquet-store/folder-writes.ts';
import { pinnedPath, placeOf } from '../../src/warehouse/parquet-store/pinned-files.ts';
import { schemaOf } from '../../src/warehouse/relations/table-schema.ts';
import { draftOf } from '../../src/warehouse/rewrite-entries.ts';
import type { CommitDraft, CommitPart, LedgerEntry, StagedFile, StagedSpan, Store } from '../../src/warehouse/store.ts';
import { openedStore } from '../../src/warehouse/warehouse-store.ts';
import blocks from '../../pipelines/blocks.ts';
import transactions from '../../pipelines/transactions.ts';
import { SimulatedBucket } from './bucket.ts';
import { SimulatedDisk } from './disk.ts';
import { type Row, rowsIn, Truth } from './truth.ts';
import type { World } from './world.ts';

/** Where everything of a simulation lies. */
export const ROOT = '/simulated';
const FOLDER = `${ROOT}/warehouse`;
const BUCKET = 's3://simulated/warehouse';
const NETWORK = 'simulated';
/** How long superseded files stay. */
export const GRACE_MS = 3_600_000;
/** Blocks of the chain, and of a day. */
const CHAIN = 40;
const DAY = 10;
/** Bytes that a merged file should have. */
const TARGET_BYTES = 2000;

const PIPELINES: readonly PipelineDef[] = [blocks, transactions];
const TABLES = PIPELINES.flatMap(({ tables }) => tables);
const LEFT_OUT = undefined;
/** Of a file that a merge leaves as it is: the truth does not ask for it. */
const COPIED = { newest: 1, origin: '0'.repeat(16) };

/** What the actors of a simulation work on. */
export class SimulatedWarehouse {
  readonly world: World;
  readonly disk: SimulatedDisk;
  readonly truth: Truth;
  readonly isBucket: boolean;
  readonly bucket: SimulatedBucket;

  constructor(world: World, isBucket: boolean) {
    this.world = world;
    this.isBucket = isBucket;
    this.disk = new SimulatedDisk(ROOT, () => world.now);
    this.bucket = new SimulatedBucket(BUCKET, world);
    for (const path of [`${ROOT}/tmp`, FOLDER]) this.disk.makeFolder(path);
    for (const path of [ROOT, FOLDER]) this.disk.sync(this.disk.get(path, 'open'));
    const entryKey = (number: number): string => `_ledger/${String(number).padStart(8, '0')}.json`;
    this.truth = new Truth({
      entry: (number) => this.#object(entryKey(number))?.toString(),
      file: (path) => this.file(path),
    });
  }

  /** Bytes of a data file where a reader finds it now. */
  file(path: string): Buffer | undefined {
    if (this.isBucket) return this.bucket.objects.get(path)?.bytes;
    return (this.#object(path) ?? this.#object(pinnedPath(path)));
  }

  /** Data files that are there, under any of their names. */
  dataFiles(): ReadonlySet<string> {
    const keys = this.isBucket
      ? [...this.bucket.objects.keys()]
      : [...this.disk.files(FOLDER)].map((path) => path.slice(FOLDER.length + 1));
    return new Set(keys.filter((key) => /^(tables|pinned)\//.test(key)).map((key) => key.replace(/^pinned/, 'tables')));
  }

  /** Names in `tables/`, which programs read as a folder. */
  shown(): ReadonlySet<string> {
    return new Set([...this.dataFiles()].filter((path) => this.#object(path) !== undefined));
  }

  #object(key: string): Buffer | undefined {
    return this.isBucket ? this.bucket.objects.get(key)?.bytes : this.disk.find(`${FOLDER}/${key}`)?.bytes;
  }

  backend(): Backend {
    if (this.isBucket) return { ...bucketBackend(BUCKET, this.bucket), requireQueries: async () => {} };
    const catalog = { open: async () => {}, schedule: () => {}, current: async () => {}, close: async () => {} };
    return {
      ...folderBackend(FOLDER),
      openWrites: async (ledger, options) => new FolderWrites(FOLDER, ledger, options, catalog),
    };
  }

  async open(): Promise<SimulatedWriter> {
    const { effects } = this.world;
    const options = { path: FOLDER, network: NETWORK, tables: TABLES, pipelines: PIPELINES, effects, graceMs: GRACE_MS };
    const writer = await openFilesWriter(this.backend(), options);
    return new SimulatedWriter(this, openedStore(writer, options));
  }
}

/** A process that writes the warehouse: whatever changes rows, chosen by the seed. */
export class SimulatedWriter {
  readonly #place: SimulatedWarehouse;
  readonly #store: Store;

  constructor(place: SimulatedWarehouse, store: Store) {
    this.#place = place;
    this.#store = store;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  clear(): Promise<number> {
    return this.#store.clearSuperseded();
  }

  /** Blocks that are missing, in one to three entries. */
  async add(): Promise<void> {
    const { random } = this.#place.world;
    const pipeline = random.pick(PIPELINES) ?? blocks;
    const missing = subtractSpans([{ from: 1, to: CHAIN }], doneSpans(this.#store.ledger(), pipeline.name));
    const chosen = random.pick(missing);
    if (chosen === undefined) return;
    const from = random.within(chosen.from, chosen.to);
    const spans = cut({ from, to: Math.min(chosen.to, from + random.below(6)) }, random.within(1, 3));
    await this.#commit(spans.map((span) => ({ pipeline, span, supersedes: [] })));
  }

  /** The blocks of an entry, read anew. */
  async replace(): Promise<void> {
    const entry = this.#entry();
    if (entry === undefined) return;
    const { pipeline, supersedes } = ofEntry(entry);
    const spans = spansOf(entry);
    await this.#commit(spans.map((span) => ({ pipeline, span, supersedes })));
  }

  /** Some blocks of an entry leave; the others are copied. */
  async forget(): Promise<void> {
    const { random, effects } = this.#place.world;
    const entry = this.#entry();
    const span = entry && random.pick(spansOf(entry));
    if (entry === undefined || span === undefined) return;
    const from = random.within(span.from, span.to);
    const gone: Span = { from, to: random.within(from, span.to) };
    const { pipeline } = ofEntry(entry);
    const keep = subtractSpans(spansOf(entry), [gone]);
    const kept = (await this.#rowsOf(entry)).filter(([, block]) => block < gone.from || block > gone.to);
    const parts: CommitPart[] = [];
    const forgotten = range(gone).map((block) => [pipeline.name, block] as const);
    const change = this.#place.truth.intend({ parts: keep.length + 1, rows: [], forgotten });
    for (const each of keep) {
      const id = effects.freshId();
      const rows = kept.filter(([, block]) => block >= each.from && block <= each.to);
      const draft = draftOf({ old: [entry], keep: [each], read: [], leftOut: LEFT_OUT });
      parts.push({ staged: await this.#stage(pipeline, id, each, rows), draft: { ...draft, unknownKeys: change } });
    }
    const id = effects.freshId();
    const draft = draftFor(pipeline, gone, change, [id, entry.id]);
    parts.push({
      staged: { id, tables: {} },
      draft: { ...draft, scope: FORGOTTEN, forgotten: { by: 'command' } },
    });
    this.#place.truth.promise(await this.#store.commitTogether(parts));
  }

  /** Files of several entries become one, by tonlake's own plan. */
  async merge(): Promise<void> {
    const { random, effects } = this.#place.world;
    const options = { tables: TABLES, pipelines: PIPELINES, targetBytes: TARGET_BYTES };
    const group = random.pick(planMerges(this.#store.ledger(), options));
    if (group === undefined) return;
    const stage: StageMerge = async ({ id, span, entries }, localFolder) => {
      const { joined, alone } = splitFiles(entries);
      const own = [...joined.values()].flat();
      const folder = await localFolder(own);
      const rows: Row[] = [];
      for (const { path } of own) rows.push(...rowsIn(await readFile(this.#place.isBucket ? join(folder, path) : placeOf(folder, path))));
      this.#place.truth.intendMerge(id);
      const { pipeline } = ofEntry(entries[0] as LedgerEntry);
      const { tables } = await this.#stage(pipeline, id, span, rows);
      const reused = alone.map((file) => ({ ...file, copied: COPIED }));
      return Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, { ...table, reused }]));
    };
    await mergeGroup(this.#store, group, { tables: TABLES, effects, stage });
  }

  #entry(): LedgerEntry | undefined {
    return this.#place.world.random.pick(this.#store.ledger());
  }

  async #rowsOf(entry: LedgerEntry): Promise<readonly Row[]> {
    const files = Object.values(entry.tables).flatMap((table) => table.files);
    const scratch = join(this.#store.staging.stagingPath, this.#place.world.effects.freshId());
    const folder = await this.#store.rows.localFolder(files, scratch);
    const rows: Row[] = [];
    for (const { path } of files) rows.push(...rowsIn(await readFile(join(folder, path))));
    return rows;
  }

  async #commit(
    parts: readonly { readonly pipeline: PipelineDef; readonly span: Span; readonly supersedes: readonly string[] }[],
  ): Promise<void> {
    const { truth, world } = this.#place;
    const version = world.effects.now() + world.random.next();
    const rowsOf = (pipeline: PipelineDef, span: Span): readonly Row[] =>
      range(span).map((block) => [pipeline.name, block, version] as const);
    const rows = parts.flatMap(({ pipeline, span }) => rowsOf(pipeline, span));
    const change = truth.intend({ parts: parts.length, rows, forgotten: [] });
    const ready: CommitPart[] = [];
    for (const { pipeline, span, supersedes } of parts) {
      const staged = await this.#stage(pipeline, world.effects.freshId(), span, rowsOf(pipeline, span));
      ready.push({ staged, draft: draftFor(pipeline, span, change, supersedes) });
    }
    truth.promise(await this.#store.commitTogether(ready));
  }

  /** Writes files, one for each day, as a stage does. */
  async #stage({ tables: [table] }: PipelineDef, id: string, span: Span, rows: readonly Row[]): Promise<StagedSpan> {
    if (table === undefined) throw new Error('expected a table');
    const folder = join(this.#store.staging.stagingPath, id);
    await mkdir(folder, { recursive: true });
    const files: StagedFile[] = [];
    for (const day of new Set(rows.map(([, block]) => Math.floor(block / DAY)))) {
      const own = rows.filter(([, block]) => Math.floor(block / DAY) === day);
      const content = Buffer.from(JSON.stringify(own));
      const stagedPath = join(folder, `${day}.parquet`);
      await writeSynced(stagedPath, content);
      const path = pathOfFile(table.name, `2030-01-0${day + 1}`, span, id);
      files.push({ path, stagedPath, rows: own.length, bytes: content.length, bounds: {}, sha256: sha256Of(content) });
    }
    const evidence = { rows: rows.length, keyHash: '0', sums: {}, schema: schemaOf(table).id, isSorted: true };
    return { id, tables: { [table.name]: { ...evidence, files } } };
  }
}

function ofEntry({ pipeline: name, id }: LedgerEntry): {
  readonly pipeline: PipelineDef;
  readonly supersedes: readonly string[];
} {
  const pipeline = PIPELINES.find((each) => each.name === name);
  if (pipeline === undefined) throw new Error(`expected a known pipeline, got ${name}`);
  return { pipeline, supersedes: [id] };
}

function draftFor({ name, version }: PipelineDef, span: Span, change: number, supersedes: readonly string[]): CommitDraft {
  return {
    ...{ network: NETWORK, pipeline: name, version, ...covering([span]), verdict: 'accepted' },
    ...{ requests: 1, retries: 0, unknownKeys: change, supersedes },
  };
}

function range({ from, to }: Span): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** Adjacent parts of a span, at most so many. */
function cut({ from, to }: Span, parts: number): readonly Span[] {
  const size = Math.ceil((to - from + 1) / parts);
  const spans: Span[] = [];
  for (let at = from; at <= to; at += size) spans.push({ from: at, to: Math.min(to, at + size - 1) });
  return spans;
}
