import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effects } from '../core/effects.ts';
import { stateDirectory } from '../core/environment.ts';
import { JobError } from '../core/errors.ts';
import { jsonAs } from '../core/json-as.ts';
import { greatest } from '../core/span.ts';
import { ifAny, listFolder, makeFolder, replaceText } from '../files/disk.ts';
import { guarded } from '../files/file-failure.ts';
import { readProcessState } from '../files/process-liveness.ts';
import { type Lock, takeLock } from '../files/writer-lock.ts';
import { type Lease, takeLease } from '../objects/lease.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import { isObjectUrl } from '../objects/s3-location.ts';
import { openS3Store } from '../objects/s3-store.ts';
import { recordsFolder, warehousePath } from '../warehouse/index.ts';
import { dueId, isOver, type JobRecord, type JobState, recordSchema } from './run-record.ts';

/** Maximum number of records per job; the oldest are removed first. */
const MAX_RECORDS = 1000;
const RECORD_NAME = /^\d{8}T\d{6}Z(-\d+)?\.json$/;

/** Folder of the job records of a warehouse. */
export function jobsFolder(warehouse: string): Promise<string> {
  return recordsOf(warehouse, 'jobs');
}

/** Local folder for records about a warehouse: inside a Parquet folder, next to a DuckDB file, in the state directory for an object store. */
export async function recordsOf(warehouse: string, name: string): Promise<string> {
  const path = warehousePath(warehouse);
  if (isObjectUrl(path))
    return join(stateDirectory(process.env), name, path.slice('s3://'.length).replaceAll('/', '~'));
  return recordsFolder(path, name);
}

/**
 * Takes the lock for running or scheduling jobs on a warehouse; in an object store, a lease that processes of all hosts see.
 *
 * @param command shown to other processes that want the lock
 * @throws {StoreError} `busy` if a running process has it
 */
export async function lockJobs(
  warehouse: string,
  what: 'run' | 'schedule',
  effects: Effects,
  command: string,
): Promise<Lock | Lease> {
  const path = warehousePath(warehouse);
  const doing = what === 'run' ? 'is used by a job' : 'is scheduled already';
  const options = { subject: `warehouse ${path}`, doing, command, effects };
  if (isObjectUrl(path)) return takeLease({ ...options, objects: jobObjects(path), key: `${what}.lease` });
  const folder = await jobsFolder(warehouse);
  return guarded(`warehouse ${warehouse}`, async () => {
    await makeFolder(folder);
    return takeLock({ ...options, path: join(folder, `${what}.lock`) });
  });
}

/** The objects of the jobs of a warehouse in an object store. */
function jobObjects(path: string): ObjectStore {
  return openS3Store(`${path}/_jobs`);
}

/** The records of one job on one warehouse, a file each, with the log of the run next to it. For an object store, `folder` has copies. */
export class JobHistory {
  readonly folder: string;
  readonly #job: string;
  readonly #mirror: RecordMirror | undefined;

  private constructor(folder: string, job: string, mirror: RecordMirror | undefined) {
    this.folder = folder;
    this.#job = job;
    this.#mirror = mirror;
  }

  /** @throws {StoreError} if the object store is not available */
  static async open(warehouse: string, job: string): Promise<JobHistory> {
    const folder = join(await jobsFolder(warehouse), job);
    const path = warehousePath(warehouse);
    const mirror = isObjectUrl(path) ? new RecordMirror(jobObjects(path), folder, job) : undefined;
    await mirror?.pull();
    return new JobHistory(folder, job, mirror);
  }

  /** Uploads the log of a run, for other hosts. */
  async shareLog({ id }: Pick<JobRecord, 'id'>): Promise<void> {
    await this.#mirror?.put(`${id}.log`);
  }

  /** Replaces a file of the folder that is not a record. */
  async writeFile(name: string, text: string, effects: Effects): Promise<void> {
    await guarded(`history of ${this.#job}`, async () => {
      await makeFolder(this.folder);
      await replaceText(join(this.folder, name), text, effects.freshId());
    });
    await this.#mirror?.put(name);
  }

  /** All records, oldest first. @throws {JobError} */
  async read(): Promise<readonly JobRecord[]> {
    return Promise.all((await this.#names()).map((name) => this.#readOne(name)));
  }

  /** The newest records, oldest first, without unreadable ones. */
  async newest(count: number): Promise<readonly JobRecord[]> {
    const names = (await this.#names()).slice(-count);
    const records = await Promise.all(names.map((name) => this.#readOne(name).catch(() => undefined)));
    return records.filter((record) => record !== undefined);
  }

  /** The record of a run; undefined if there is none. @throws {JobError} */
  async find(id: string): Promise<JobRecord | undefined> {
    const name = `${id}.json`;
    return (await this.#names()).includes(name) ? this.#readOne(name) : undefined;
  }

  /** The records of one due time, also of other hosts, oldest first. @throws {JobError} `bad-record` */
  async readDue(due: number): Promise<readonly JobRecord[]> {
    await this.#mirror?.pull();
    const names = (await this.#names()).filter((name) => partsOf(name)[0] === dueId(due));
    return Promise.all(names.map((name) => this.#readOne(name)));
  }

  /** The state of a record to show: a run whose process is gone was killed. */
  async stateOf({ state, attempts }: JobRecord): Promise<JobState | 'killed'> {
    if (state !== 'running' && state !== 'publishing') return state;
    const last = attempts.at(-1);
    if (last === undefined) return 'killed';
    const place = this.#mirror === undefined ? { path: this.folder } : {};
    return (await readProcessState(last.owner, { ...place, since: last.startedAt })) === 'gone' ? 'killed' : state;
  }

  /** Writes or replaces a record. */
  async write(record: JobRecord, effects: Effects): Promise<void> {
    await this.writeFile(`${record.id}.json`, `${JSON.stringify(record, undefined, 2)}\n`, effects);
  }

  /**
   * Removes leftovers of killed processes, and the oldest records above the limit, except unfinished ones and those with the last exported
   * block. Only for the process that has the lock.
   */
  async tidy(): Promise<void> {
    const names = await listFolder(this.folder);
    const old = (await this.#names()).slice(0, -MAX_RECORDS);
    const needed = await this.#neededOf(old);
    const gone = [...names.filter((each) => each.startsWith('draft-')), ...old]
      .filter((name) => !needed.has(name))
      .flatMap((name) => [name, name.replace(/\.json$/, '.log')]);
    for (const name of gone) await rm(join(this.folder, name), { force: true });
    if (gone.length > 0) await this.#mirror?.remove(gone);
  }

  /** The records that a later run needs: unfinished ones, and the one with the last block for each list of pipelines. */
  async #neededOf(names: readonly string[]): Promise<ReadonlySet<string>> {
    const needed = new Set<string>();
    const furthest = new Map<string, { readonly name: string; readonly to: number }>();
    for (const name of names) {
      const record = await this.#readOne(name).catch(() => undefined);
      if (record === undefined) continue;
      if (!isOver(record.state)) needed.add(name);
      const to = record.range?.to;
      if (record.state !== 'done' || to === undefined) continue;
      const key = record.pipelines.join(',');
      if (to >= (furthest.get(key)?.to ?? 0)) furthest.set(key, { name, to });
    }
    for (const { name } of furthest.values()) needed.add(name);
    return needed;
  }

  /** Names of the records, oldest first. */
  async #names(): Promise<readonly string[]> {
    return (await listFolder(this.folder)).filter((name) => RECORD_NAME.test(name)).sort(compareNames);
  }

  async #readOne(name: string): Promise<JobRecord> {
    const path = join(this.folder, name);
    const text = await readFile(path, 'utf8');
    try {
      return recordSchema.parse(JSON.parse(text));
    } catch (cause) {
      throw new JobError(`job ${this.#job}: record ${path} cannot be read`, {
        hint: 'remove it: the history loses this run, the tables are not affected',
        cause,
      });
    }
  }
}

/** True for the text of a record of a run that will not continue. */
function isFinal(text: string): boolean {
  const record = jsonAs(recordSchema, text);
  return record !== undefined && isOver(record.state);
}

/** An unused record id. */
export function freshRecordId(due: number, records: readonly JobRecord[]): string {
  const base = dueId(due);
  const taken = new Set(records.map(({ id }) => id));
  let id = base;
  for (let count = 2; taken.has(id); count++) id = `${base}-${count}`;
  return id;
}

/** The last block of finished runs with at least the same pipelines. */
export function lastBlock(records: readonly JobRecord[], pipelines: readonly string[]): number | undefined {
  const ends = records
    .filter(({ state, pipelines: had }) => state === 'done' && pipelines.every((name) => had.includes(name)))
    .flatMap(({ range }) => (range?.to === undefined ? [] : [range.to]));
  return ends.length === 0 ? undefined : greatest(ends);
}

/** Records of unfinished runs. */
export function unfinished(records: readonly JobRecord[]): readonly JobRecord[] {
  return records.filter(({ state }) => !isOver(state));
}

function compareNames(a: string, b: string): number {
  const [[dueA, countA], [dueB, countB]] = [partsOf(a), partsOf(b)];
  return dueA === dueB ? countA - countB : dueA < dueB ? -1 : 1;
}

/** Due time and number of the record in a file: `20260504T011500Z-2.json`. */
function partsOf(name: string): readonly [due: string, count: number] {
  const [, due = '', count = 1] = /^(\w+)(?:-(\d+))?/.exec(name) ?? [];
  return [due, Number(count)];
}

/** Synchronizes the records of a job between the object store of its warehouse, which all hosts share, and a local folder. */
class RecordMirror {
  readonly #objects: ObjectStore;
  readonly #folder: string;
  readonly #prefix: string;

  constructor(objects: ObjectStore, folder: string, job: string) {
    this.#objects = objects;
    this.#folder = folder;
    this.#prefix = `${job}/`;
  }

  /** Downloads new and changed files. */
  async pull(): Promise<void> {
    for (const { key, bytes: size } of await this.#objects.list(this.#prefix)) {
      const name = key.slice(this.#prefix.length);
      if (name.includes('/')) continue;
      const local = await ifAny(readFile(join(this.#folder, name), 'utf8'));
      // A log only grows.
      const isCurrent =
        local !== undefined && (name.endsWith('.log') ? Buffer.byteLength(local) >= size : isFinal(local));
      if (isCurrent) continue;
      const bytes = await this.#objects.get(key);
      if (bytes === undefined) continue;
      await makeFolder(this.#folder);
      await replaceText(join(this.#folder, name), Buffer.from(bytes).toString('utf8'), `pull-${process.pid}`);
    }
  }

  /** Uploads a file of the folder. */
  async put(name: string): Promise<void> {
    const text = await ifAny(readFile(join(this.#folder, name)));
    if (text !== undefined) await this.#objects.put(`${this.#prefix}${name}`, text);
  }

  async remove(names: readonly string[]): Promise<void> {
    await this.#objects.remove(names.map((name) => `${this.#prefix}${name}`));
  }
}
