import { createHash } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256Of } from '../../core/sha256.ts';
import { SmallFiles } from '../../files/small-files.ts';
import { readText, type WarehouseObjects } from '../../objects/object-store.ts';
import type { LedgerEntry } from '../store.ts';
import { type Checkpoint, entryName, FORMAT, isInside } from './entries.ts';
import { filesIn } from './entries-in.ts';

/** A checkpoint to write. */
export interface CheckpointDraft extends Omit<Checkpoint, 'entries'> {
  /** One entry per line, as JSON. */
  readonly lines: AsyncIterable<string>;
}

const headerSchema = z.object({
  format: z.literal(1),
  number: z.number().int().positive(),
  /** Absent, like {@link published}, in checkpoints that promise no superseded entries. */
  since: z.number().int().nonnegative().optional(),
  published: z.array(z.number().int()).default([]),
  /** Hash of the sizes and times of the entry files that the checkpoint covers. */
  files: z.string(),
});

const NAME = /^(\d{8,})\.jsonl$/;

/** Name of the folder of checkpoints. */
export const CHECKPOINTS = '_checkpoints';

/** Key of a checkpoint up to an entry. */
function keyOf(number: number): string {
  return `${CHECKPOINTS}/${String(number).padStart(8, '0')}.jsonl`;
}

/** The state of the folder of entries, and the hash of the entry files that a checkpoint covered then. */
const STAMP = `${CHECKPOINTS}/ledger.stamp`;

/** The header field `files` in an object store, where objects have no modification times to compare. */
const OBJECTS = 'objects';

/** Paths of a warehouse that is a folder. */
interface CheckpointPaths {
  readonly ledger: string;
  readonly checkpoints: string;
  readonly stage: string;
}

/**
 * Checkpoints of a ledger. Each is one object: a checksum of the rest, a header, and one entry per line, as in its own file. A checkpoint
 * only saves time: if it is missing, damaged, or older than a change to the entry files it covers, it is ignored. In an object store,
 * entries are put if absent and never changed, so the checksum is enough.
 */
export class Checkpoints {
  readonly #objects: WarehouseObjects;
  /** Undefined in an object store. */
  readonly #paths: CheckpointPaths | undefined;
  readonly #stamps: FileStamps;
  /** Hash of the entry files that the newest checkpoint covers. */
  #files: string | undefined;

  constructor(objects: WarehouseObjects, paths: CheckpointPaths) {
    this.#objects = objects;
    this.#paths = objects.stateOf && paths;
    this.#stamps = new FileStamps(paths.ledger);
  }

  /** Valid checkpoints, newest first. */
  async *list(): AsyncGenerator<Checkpoint> {
    const covered = new Map<number, string | undefined>();
    for (const number of await this.#numbers()) covered.set(number, await this.#hash(number));
    for (const [number, files] of [...covered].reverse()) {
      const checkpoint = files === undefined ? undefined : await this.#read(number, files);
      if (checkpoint !== undefined) yield checkpoint;
    }
  }

  /** The newest valid checkpoint. @param state of the folder of entries: if it equals the stamp, no entry file is examined */
  async newest(state: string | undefined): Promise<(Checkpoint & { readonly isStamped: boolean }) | undefined> {
    const text = state === undefined ? undefined : await readText(this.#objects, STAMP).catch(() => undefined);
    const [stamped, files] = text?.split('\n') ?? [];
    if (files !== undefined && stamped === state) {
      for (const number of [...(await this.#numbers())].reverse()) {
        const checkpoint = await this.#read(number, files);
        if (checkpoint !== undefined) return { ...checkpoint, isStamped: true };
      }
    }
    for await (const checkpoint of this.list()) return { ...checkpoint, isStamped: false };
    return undefined;
  }

  /**
   * Records the state of the folder of entries; only for the process that holds the lock. Until a file is added, removed or renamed there,
   * opening need not examine each entry file. A missing or stale stamp only costs time.
   */
  async stamp(state: string | undefined): Promise<void> {
    if (this.#files === undefined || state === undefined) return;
    await this.#objects.put(STAMP, Buffer.from([state, this.#files].join('\n')));
  }

  async #hash(number: number): Promise<string | undefined> {
    return this.#paths === undefined ? OBJECTS : this.#stamps.hash(number);
  }

  async #read(number: number, files: string): Promise<Checkpoint | undefined> {
    // Another writer may have removed it since.
    const bytes = await this.#objects.get(keyOf(number)).catch((error: unknown) => {
      if (this.#paths === undefined) throw error;
      return undefined;
    });
    const checkpoint = bytes === undefined ? undefined : parseCheckpoint(Buffer.from(bytes), files);
    if (checkpoint?.number !== number) return undefined;
    this.#files = files;
    return checkpoint;
  }

  /** Writes a checkpoint, and removes all others but the one before it. */
  async write(draft: CheckpointDraft): Promise<void> {
    const files = await this.#hash(draft.number);
    if (files === undefined) return;
    const key = keyOf(draft.number);
    if (this.#paths === undefined) {
      await this.#objects.put(key, Buffer.from(await formatCheckpoint(draft, files)));
    } else {
      const { stage, checkpoints } = this.#paths;
      for (const folder of [stage, checkpoints]) await mkdir(folder, { recursive: true });
      const staged = join(stage, 'checkpoint.jsonl');
      await writeHashed(staged, chunksOf(draft, files));
      await rename(staged, `${this.#objects.url}/${key}`);
    }
    this.#files = files;
    const numbers = await this.#numbers();
    const old = numbers.filter((each) => each < draft.number).slice(0, -1);
    // Left by a folder that was restored to an earlier state. In an object store, another writer may be ahead.
    const later = numbers.filter((each) => each > draft.number && this.#paths !== undefined);
    await this.#objects.remove([...old, ...later].map(keyOf));
  }

  /** Ascending. */
  async #numbers(): Promise<readonly number[]> {
    const names = await this.#objects.names(CHECKPOINTS);
    const numbers = names.flatMap((name) => NAME.exec(name)?.slice(1).map(Number) ?? []);
    return numbers.sort((a, b) => a - b);
  }
}

/** The text of a checkpoint. @param files hash of the entry files that it covers */
async function formatCheckpoint(draft: CheckpointDraft, files: string): Promise<string> {
  let text = '';
  for await (const chunk of chunksOf(draft, files)) text += chunk;
  return `${sha256Of(text)}\n${text}`;
}

/** Approximate size of a chunk: a complete checkpoint can take tens of megabytes. */
const CHUNK_LENGTH = 262_144;

/** Everything after the checksum. */
async function* chunksOf({ number, since, published, lines }: CheckpointDraft, files: string): AsyncGenerator<string> {
  const header: z.infer<typeof headerSchema> = { format: 1, number, since, published: [...published], files };
  let chunk = `${JSON.stringify(header)}\n`;
  for await (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/** Writes a file whose first line is the checksum of the rest. */
async function writeHashed(path: string, chunks: AsyncIterable<string>): Promise<void> {
  const hash = createHash('sha256');
  const file = await open(path, 'w');
  try {
    await file.write(`${sha256Of('')}\n`);
    for await (const chunk of chunks) {
      hash.update(chunk);
      await file.write(chunk);
    }
    await file.write(hash.digest('hex'), 0);
  } finally {
    await file.close();
  }
}

/** A checkpoint from its bytes; undefined if it is damaged, stale or newer than this version. @param files hash of the current entry files */
export function parseCheckpoint(bytes: Buffer, files: string): Checkpoint | undefined {
  const end = bytes.indexOf('\n');
  if (bytes.toString('latin1', 0, Math.max(end, 0)) !== sha256Of(bytes.subarray(end + 1))) return undefined;
  try {
    const [first = '', ...lines] = bytes
      .toString('utf8', end + 1)
      .trimEnd()
      .split('\n');
    const header = headerSchema.parse(JSON.parse(first));
    // The checksum proves that the lines are complete, and tonlake writes only valid entries, but maybe a newer version did.
    const entries = lines.map((line): LedgerEntry => JSON.parse(line));
    if (header.files !== files || entries.some(({ format }) => format > FORMAT)) return undefined;
    if (!filesIn(entries).every(({ path }) => isInside(path))) return undefined;
    const { number, since = number + 1, published } = header;
    return { number, since, published, entries };
  } catch {
    return undefined;
  }
}

/** Number of entry files to examine concurrently. */
const CONCURRENCY = 64;

/**
 * A running hash of the sizes and times of entry files. tonlake never changes a file in place, so anything that replaces one, such as
 * a restored backup, changes the hash.
 */
class FileStamps {
  readonly #ledger: string;
  readonly #files = new SmallFiles();
  readonly #hash = createHash('sha256');
  /** Number of the last entry in the hash. */
  #number = 0;

  constructor(ledger: string) {
    this.#ledger = ledger;
  }

  /** The hash of entries 1 to `number`; undefined if one is missing. Numbers of successive calls must ascend. */
  async hash(number: number): Promise<string | undefined> {
    while (this.#number < number) {
      const count = Math.min(CONCURRENCY, number - this.#number);
      const numbers = Array.from({ length: count }, (_, at) => this.#number + 1 + at);
      const stamps = await Promise.all(numbers.map((each) => this.#files.stamp(`${this.#ledger}/${entryName(each)}`)));
      for (const stamp of stamps) {
        if (stamp === undefined) return undefined;
        this.#hash.update(`${stamp}\n`);
        this.#number++;
      }
    }
    return this.#hash.copy().digest('hex');
  }
}
