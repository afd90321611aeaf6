import type { ObjectStore } from '../../objects/object-store.ts';
import {
  type Checkpoint,
  type CheckpointDraft,
  checkpointName,
  checkpointNumbers,
  formatCheckpoint,
  outdatedCheckpoints,
  parseCheckpoint,
} from '../ledger/checkpoints.ts';
import type { LedgerCheckpoints } from '../ledger/ledger-folder.ts';
import type { WarehouseFiles } from '../warehouse-files.ts';

/** The small files of a warehouse in an object store. */
export class BucketFiles implements WarehouseFiles {
  readonly root: string;
  readonly mayLag = true;
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.root = objects.url;
    this.#objects = objects;
  }

  async list(folder: string, after?: string): Promise<readonly string[]> {
    const start = `${folder}/`;
    const found = await this.#objects.list(start, after === undefined ? undefined : start + after);
    return found.map(({ key }) => key.slice(start.length));
  }

  async text(path: string): Promise<string | undefined> {
    const bytes = await this.#objects.get(path);
    return bytes && Buffer.from(bytes).toString('utf8');
  }

  putIfAbsent(path: string, text: string): Promise<boolean> {
    return this.#objects.putIfAbsent(path, Buffer.from(text));
  }

  remove(path: string): Promise<void> {
    return this.#objects.remove([path]);
  }

  /** Known from listing alone. After the first listing, later entries are found by their numbers. */
  stateOf(): string {
    return 'objects';
  }
}

const FOLDER = '_checkpoints/';

/** The header field `files` of a checkpoint in an object store: objects have no times of change that could be compared. */
const OBJECTS = 'objects';

/**
 * The checkpoints of a ledger in an object store. Entries are put if absent and never changed, so a checkpoint with the right checksum holds;
 * `verify` compares it with the entries.
 */
export class BucketCheckpoints implements LedgerCheckpoints {
  readonly #objects: ObjectStore;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  async *list(): AsyncGenerator<Checkpoint> {
    for (const number of [...(await this.#numbers())].reverse()) {
      // Another writer may have removed it since.
      const bytes = await this.#objects.get(FOLDER + checkpointName(number));
      const checkpoint = bytes === undefined ? undefined : parseCheckpoint(Buffer.from(bytes), OBJECTS);
      if (checkpoint?.number === number) yield checkpoint;
    }
  }

  async newest(): Promise<(Checkpoint & { readonly isStamped: boolean }) | undefined> {
    for await (const checkpoint of this.list()) return { ...checkpoint, isStamped: false };
    return undefined;
  }

  async write(draft: CheckpointDraft): Promise<void> {
    const { number } = draft;
    await this.#objects.put(FOLDER + checkpointName(number), Buffer.from(await formatCheckpoint(draft, OBJECTS)));
    const old = outdatedCheckpoints(await this.#numbers(), number).filter((each) => each < number);
    await this.#objects.remove(old.map((each) => FOLDER + checkpointName(each)));
  }

  async stamp(): Promise<void> {}

  async #numbers(): Promise<readonly number[]> {
    const found = await this.#objects.list(FOLDER);
    return checkpointNumbers(found.map(({ key }) => key.slice(FOLDER.length)));
  }
}
