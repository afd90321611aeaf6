/** One object of a store. */
export interface ObjectEntry {
  /** Relative to the location of the store. */
  readonly key: string;
  readonly bytes: number;
  /** When it was put, by the clock of the store; milliseconds since 1970. */
  readonly putAt: number;
}

/** Size and checksum of a file. */
export interface FileSum {
  readonly bytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

/** Objects that fit in memory, below a folder of a disk or a location of an object store. Keys are relative to it, with forward slashes. */
export interface SmallObjects {
  /** Absolute path, or `s3://bucket/prefix`; without a slash at the end. */
  readonly url: string;
  /** Objects whose keys begin with a prefix, in the order of their keys. */
  list(prefix: string): Promise<readonly ObjectEntry[]>;
  /** Names of the direct subfolders. @param folder ends with a slash */
  folders(folder: string): Promise<readonly string[]>;
  /** The bytes of an object; undefined if there is none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Puts or replaces an object: readers see the old one or the new one, in full. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Atomically puts an object unless there is one with other bytes. An object with the same bytes counts as put, because the response of an
   * earlier attempt may have been lost.
   *
   * @returns the bytes of the other object, if there is one
   */
  putOrGet(key: string, bytes: Uint8Array): Promise<Uint8Array | undefined>;
  /** Ignores missing objects. */
  remove(keys: readonly string[]): Promise<void>;
}

/** The small objects of a warehouse: identity, ledger, schemas, declarations, checkpoints, marks of publications. */
export interface WarehouseObjects extends SmallObjects {
  /** Names of the objects below a folder. @param folder without a slash at the end @param after names up to this one may be omitted */
  names(folder: string, after?: string): Promise<readonly string[]>;
  /**
   * Replaces an object if it still has these bytes; atomically if the store supports `If-Match`.
   * @returns false if it has others, or is gone
   */
  putInPlaceOf(key: string, before: Uint8Array, bytes: Uint8Array): Promise<boolean>;
  /**
   * A token that changes when an object is added to or removed from a folder; undefined if there is no folder. Absent for stores without one:
   * their listings may lack objects.
   */
  readonly stateOf?: (folder: string) => string | undefined;
}

/**
 * Objects of any size below a location of an object store. Transient failures are retried; errors are StoreErrors of one line.
 */
export interface ObjectStore extends WarehouseObjects {
  /** @param after only later keys */
  list(prefix: string, after?: string): Promise<readonly ObjectEntry[]>;
  /** Size of an object, and the checksum that `upload` recorded; undefined if there is none. */
  head(key: string): Promise<{ readonly bytes: number; readonly sha256: string | undefined } | undefined>;
  /**
   * Reads an object of any size.
   *
   * @param begin called at the start of each attempt; the function that it returns gets the bytes
   * @returns false if there is none
   */
  read(key: string, begin: () => Promise<(bytes: Uint8Array) => void | Promise<void>>): Promise<boolean>;
  /**
   * Puts a local file with its checksum as metadata; a large one in parts, which are removed if that fails.
   * @throws {StoreError} `damaged` if its bytes are not those of `sum`
   */
  upload(key: string, path: string, sum: FileSum): Promise<void>;
  /** Copies an object of at most 5 GB, and its checksum, to another key; atomically, within the store. */
  copy(from: string, to: string): Promise<void>;
  /** Puts a local file that is still being written. */
  uploadGrowing(key: string, path: string): GrowingUpload;
  /** Aborts unfinished uploads that began before a time of the store's clock. @returns their number */
  abortUploads(prefix: string, before: number): Promise<number>;
}

/** A local file that is put while it grows. */
export interface GrowingUpload {
  /** Sends complete parts in the background. @param bytes number of leading bytes that will not change */
  grow(bytes: number): void;
  /**
   * Sends the rest, and puts the object. Call `abort` if it fails.
   * @throws {StoreError} of any part so far; `damaged` if the bytes that were sent are not those of `sum`
   */
  complete(sum: FileSum): Promise<void>;
  /** Removes the sent parts. */
  abort(): Promise<void>;
}

/** The objects below a folder. @param location address of `objects` for readers */
export function objectsBelow(objects: SmallObjects, folder: string, location: string): SmallObjects {
  const base = `${folder}/`;
  return {
    url: `${location}/${folder}`,
    list: async (prefix) =>
      (await objects.list(base + prefix)).map((entry) => ({ ...entry, key: entry.key.slice(base.length) })),
    folders: (name) => objects.folders(base + name),
    get: (key) => objects.get(base + key),
    put: (key, bytes) => objects.put(base + key, bytes),
    putOrGet: (key, bytes) => objects.putOrGet(base + key, bytes),
    remove: (keys) => objects.remove(keys.map((key) => base + key)),
  };
}

/** The text of an object; undefined if there is none. */
export async function readText(objects: Pick<SmallObjects, 'get'>, key: string): Promise<string | undefined> {
  const bytes = await objects.get(key);
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
