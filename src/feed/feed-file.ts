import { createReadStream } from 'node:fs';
import { open, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { StoreError } from '../core/errors.ts';
import { ifAny, makeFolder, replaceText, statIfAny } from '../files/disk.ts';
import { guarded } from '../files/file-failure.ts';
import { recordsOf } from '../jobs/run-history.ts';

/** Files of a feed, next to those of jobs: its position and its log. */
export class FeedFile<Position> {
  readonly #warehouse: string;
  readonly #name: string;
  readonly #parse: (value: unknown) => Position;
  #isClean = false;

  /** @param parse decodes a position; throws for anything else */
  constructor(warehouse: string, name: string, parse: (value: unknown) => Position) {
    this.#warehouse = warehouse;
    this.#name = name;
    this.#parse = parse;
  }

  /** @throws {StoreError} if the file was edited */
  async read(): Promise<Position | undefined> {
    const path = await this.#path('.json');
    const text = await this.#guarded(() => ifAny(readFile(path, 'utf8')));
    if (text === undefined) return undefined;
    try {
      return this.#parse(JSON.parse(text));
    } catch (cause) {
      throw new StoreError(`store: expected a position in ${path}, got something else`, {
        hint: await this.resetHint(),
        cause,
      });
    }
  }

  /** Hint for a position that does not fit the warehouse. */
  async resetHint(): Promise<string> {
    return `to begin with the next commit: rm ${await this.#path('.json')}`;
  }

  async write(position: string): Promise<void> {
    const path = await this.#path('.json');
    await this.#guarded(async () => {
      const folder = await this.#folder();
      // Only one process writes it, so an existing draft was left by a killed one.
      if (!this.#isClean) await makeFolder(folder);
      await rm(join(folder, `draft-${this.#name}`), { force: true });
      await replaceText(path, `${position}\n`, this.#name);
    });
  }

  async *lines(): AsyncGenerator<string> {
    const path = await this.#path('.log');
    await this.#repair();
    if ((await statIfAny(path)) === undefined) return;
    yield* createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  }

  /** Adds a line to the log; it is durable on return. */
  async append(line: string): Promise<void> {
    const path = await this.#path('.log');
    await this.#repair();
    await this.#guarded(async () => {
      const file = await open(path, 'a');
      try {
        await file.writeFile(`${line}\n`);
        await file.datasync();
      } finally {
        await file.close();
      }
    });
  }

  /** Replaces the log atomically. */
  async replaceLog(lines: readonly string[]): Promise<void> {
    const path = await this.#path('.log');
    await this.#guarded(() => replaceText(path, lines.map((line) => `${line}\n`).join(''), this.#name));
  }

  /** Removes a partial last line that a killed process left. */
  async #repair(): Promise<void> {
    if (this.#isClean) return;
    const path = await this.#path('.log');
    await this.#guarded(async () => {
      await makeFolder(await this.#folder());
      const size = (await statIfAny(path))?.size ?? 0;
      if (size > 0) await cutTornLine(path, size);
    });
    this.#isClean = true;
  }

  /** Absolute path of the lock for the process that delivers. */
  async lockPath(): Promise<string> {
    const folder = await this.#folder();
    await this.#guarded(() => makeFolder(folder));
    return this.#path('.lock');
  }

  #folder(): Promise<string> {
    return recordsOf(this.#warehouse, 'feed');
  }

  async #path(ending: string): Promise<string> {
    return join(await this.#folder(), `${this.#name}${ending}`);
  }

  #guarded<R>(work: () => Promise<R>): Promise<R> {
    return guarded(`warehouse ${this.#warehouse}`, work);
  }
}

/** Maximum size of a line. */
const LINE_BYTES = 4096;

async function cutTornLine(path: string, size: number): Promise<void> {
  const file = await open(path, 'r');
  const end = Buffer.alloc(Math.min(size, LINE_BYTES));
  try {
    await file.read(end, 0, end.length, size - end.length);
  } finally {
    await file.close();
  }
  const whole = end.lastIndexOf('\n') + 1;
  if (whole < end.length) await truncate(path, size - end.length + whole);
}
