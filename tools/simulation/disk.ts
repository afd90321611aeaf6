import type { Random } from './random.ts';

/** A file or a folder, with what of it survives a loss of power. */
class Node {
  readonly ino: bigint;
  readonly isFolder: boolean;
  /** Names that it has. */
  links = 0;
  /** Nanoseconds since 1970. */
  changedAt: bigint;
  modifiedAt: bigint;
  bytes: Buffer = Buffer.alloc(0);
  /** Bytes that were synced; undefined if never. */
  synced: Buffer<ArrayBufferLike> | undefined;
  names = new Map<string, Node>();
  /** Names that were synced. */
  kept = new Map<string, Node>();
  /** Changes of names since, in order. */
  changes: { readonly name: string; readonly node: Node | undefined }[] = [];

  constructor(ino: bigint, isFolder: boolean, now: bigint) {
    this.ino = ino;
    this.isFolder = isFolder;
    this.changedAt = now;
    this.modifiedAt = now;
  }
}

export type { Node };

export function failedCall(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path });
}

/**
 * A disk as POSIX promises it, and no better: a change of a folder is lost with the power unless the folder was synced after it, those of a
 * folder in order, those of different folders independently; of a file, anything after its last sync may be torn.
 */
export class SimulatedDisk {
  readonly #root: string;
  readonly #now: () => number;
  #inos = 1n;
  #tree: Node;
  /** Grows with each change, so that no two changes have the same time. */
  #ticks = 0n;

  /** @param root absolute path of the folder that it simulates, which is there */
  constructor(root: string, now: () => number) {
    this.#root = root;
    this.#now = now;
    this.#tree = this.#make(true);
  }

  has(path: string): boolean {
    return path === this.#root || path.startsWith(`${this.#root}/`);
  }

  find(path: string): Node | undefined {
    let node: Node | undefined = this.#tree;
    for (const name of this.#namesOf(path)) node = node?.isFolder === true ? node.names.get(name) : undefined;
    return node;
  }

  get(path: string, call: string): Node {
    const node = this.find(path);
    if (node === undefined) throw failedCall('ENOENT', call, path);
    return node;
  }

  read(path: string): Buffer {
    const node = this.get(path, 'open');
    if (node.isFolder) throw failedCall('EISDIR', 'read', path);
    return Buffer.from(node.bytes);
  }

  /** @returns the new file, or the one that is there, emptied */
  create(path: string, isExclusive: boolean): Node {
    const [folder, name] = this.#parentOf(path, 'open');
    const found = folder.names.get(name);
    if (found !== undefined && isExclusive) throw failedCall('EEXIST', 'open', path);
    if (found?.isFolder === true) throw failedCall('EISDIR', 'open', path);
    if (found === undefined) {
      const made = this.#make(false);
      this.#name(folder, name, made);
      return made;
    }
    this.write(found, Buffer.alloc(0), 0, true);
    return found;
  }

  /** @param position in bytes. Default: at the end */
  write(node: Node, bytes: Uint8Array, position = node.bytes.length, truncates = false): void {
    const end = Math.max(truncates ? 0 : node.bytes.length, position + bytes.length);
    const grown = Buffer.alloc(end);
    node.bytes.copy(grown, 0, 0, Math.min(node.bytes.length, end));
    grown.set(bytes, position);
    node.bytes = grown;
    node.modifiedAt = node.changedAt = this.#tick();
  }

  sync(node: Node): void {
    if (node.isFolder) {
      node.kept = new Map(node.names);
      node.changes = [];
    } else {
      node.synced = Buffer.from(node.bytes);
    }
  }

  makeFolder(path: string): void {
    const [folder, name] = this.#parentOf(path, 'mkdir');
    if (folder.names.has(name)) throw failedCall('EEXIST', 'mkdir', path);
    this.#name(folder, name, this.#make(true));
  }

  link(from: string, to: string): void {
    const node = this.get(from, 'link');
    const [folder, name] = this.#parentOf(to, 'link');
    if (folder.names.has(name)) throw failedCall('EEXIST', 'link', to);
    this.#name(folder, name, node);
  }

  rename(from: string, to: string): void {
    const node = this.get(from, 'rename');
    const [source, old] = this.#parentOf(from, 'rename');
    const [folder, name] = this.#parentOf(to, 'rename');
    // As POSIX wants it: two names of one file both stay.
    if (folder.names.get(name) === node) return;
    this.#name(folder, name, node);
    this.#name(source, old, undefined);
  }

  unlink(path: string): void {
    const node = this.get(path, 'unlink');
    if (node.isFolder) throw failedCall('EISDIR', 'unlink', path);
    const [folder, name] = this.#parentOf(path, 'unlink');
    this.#name(folder, name, undefined);
  }

  removeFolder(path: string): void {
    const node = this.get(path, 'rmdir');
    if (!node.isFolder) throw failedCall('ENOTDIR', 'rmdir', path);
    if (node.names.size > 0) throw failedCall('ENOTEMPTY', 'rmdir', path);
    const [folder, name] = this.#parentOf(path, 'rmdir');
    this.#name(folder, name, undefined);
  }

  /** Removes a file, or a folder with all that is in it. */
  remove(path: string): void {
    const node = this.get(path, 'rm');
    for (const name of [...node.names.keys()]) this.remove(`${path}/${name}`);
    const [folder, name] = this.#parentOf(path, 'rm');
    this.#name(folder, name, undefined);
  }

  /** Paths of the files below a folder. */
  *files(path: string): Generator<string> {
    for (const [name, node] of this.find(path)?.names ?? []) {
      if (node.isFolder) yield* this.files(`${path}/${name}`);
      else yield `${path}/${name}`;
    }
  }

  /** What is left when the power is lost. */
  losePower(random: Random): void {
    const lost = new Map<Node, Node>();
    const left = (node: Node): Node => {
      const known = lost.get(node);
      if (known !== undefined) return known;
      const copy = new Node(node.ino, node.isFolder, node.changedAt);
      lost.set(node, copy);
      copy.modifiedAt = node.modifiedAt;
      copy.links = node.isFolder ? 1 : 0;
      if (!node.isFolder) {
        copy.bytes = copy.synced = leftOf(node, random);
        return copy;
      }
      const kept = new Map(node.kept);
      for (const { name, node: changed } of node.changes.slice(0, random.within(0, node.changes.length))) {
        if (changed === undefined) kept.delete(name);
        else kept.set(name, changed);
      }
      copy.names = new Map([...kept].map(([name, each]) => [name, left(each)]));
      for (const each of copy.names.values()) each.links++;
      copy.kept = new Map(copy.names);
      return copy;
    };
    this.#tree = left(this.#tree);
  }

  #make(isFolder: boolean): Node {
    return new Node(this.#inos++, isFolder, this.#tick());
  }

  #name(folder: Node, name: string, node: Node | undefined): void {
    const old = folder.names.get(name);
    if (old !== undefined) old.links--;
    if (node === undefined) folder.names.delete(name);
    else folder.names.set(name, node);
    if (node !== undefined) node.links++;
    folder.changes.push({ name, node });
    folder.modifiedAt = folder.changedAt = this.#tick();
    if (node !== undefined) node.changedAt = folder.changedAt;
  }

  #tick(): bigint {
    return BigInt(Math.floor(this.#now())) * 1_000_000n + ++this.#ticks;
  }

  #parentOf(path: string, call: string): readonly [Node, string] {
    const names = this.#namesOf(path);
    const folder = this.find(path.slice(0, path.lastIndexOf('/')));
    const name = names.at(-1);
    if (folder === undefined || name === undefined) throw failedCall('ENOENT', call, path);
    if (!folder.isFolder) throw failedCall('ENOTDIR', call, path);
    return [folder, name];
  }

  #namesOf(path: string): readonly string[] {
    return path.slice(this.#root.length).split('/').filter((name) => name !== '');
  }
}

/** Bytes of a file after a loss of power. */
function leftOf({ bytes, synced }: Node, random: Random): Buffer {
  if (synced?.equals(bytes) === true) return synced;
  const parts = [synced ?? Buffer.alloc(0), bytes.subarray(0, random.within(0, bytes.length)), bytes];
  return Buffer.from(random.pick(parts) ?? bytes);
}
