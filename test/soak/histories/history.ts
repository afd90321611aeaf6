import { join } from 'node:path';
import type { Span } from '../../../src/core/span.ts';
import { type RunReport, run } from '../../../src/export/run.ts';
import { Rng } from '../../../src/sandbox/chain/mix.ts';
import { openReader } from '../../../src/warehouse/open-store.ts';
import { tonlake } from '../../cli.ts';
import type { TestSandbox } from '../../faults/test-sandbox.ts';
import { EXTENSIONS } from '../../objects/s3-server.ts';
import { freshFolder } from '../../scratch.ts';
import {
  blocksOf,
  CHAIN,
  FIRST,
  LAST,
  LOOKUPS,
  MARTS,
  OF_BLOCKS,
  OPTIONAL,
  type Rows,
  registry,
  rowsIn,
  rowsOf,
  without,
} from './warehouse-rows.ts';

type RunOptions = Parameters<typeof run>[0];

/** Where the warehouse of a history is. */
export type Place = 'folder' | 'file' | 'bucket';

export interface HistoryOptions {
  readonly seed: number;
  readonly place: Place;
  readonly sandbox: TestSandbox;
  /** What one export of the whole range has. */
  readonly whole: Rows;
}

/** A warehouse, what was done to it, and the blocks that it must have. */
export class History {
  readonly rng: Rng;
  readonly sandbox: TestSandbox;
  readonly folder = freshFolder();
  place: Place;
  path: string;
  isNarrow = false;
  readonly #seed: number;
  readonly #whole: Rows;
  readonly #log: string[] = [];
  /** Blocks of each pipeline that were exported and not forgotten. */
  readonly #blocks = new Map<string, Set<number>>(OF_BLOCKS.map((name) => [name, new Set()]));

  constructor({ seed, place, sandbox, whole }: HistoryOptions) {
    this.#seed = seed;
    this.rng = new Rng(seed, 0x4157);
    this.sandbox = sandbox;
    this.#whole = whole;
    this.place = place;
    const name = place === 'file' ? 'w.duckdb' : 'w';
    this.path = place === 'bucket' ? `s3://lake/w${seed}` : join(this.folder, name);
  }

  /** Also shows what was done before. */
  require(isRight: boolean, what: string): void {
    if (!isRight) throw new Error([`seed ${this.#seed}: ${what}`, ...this.#log].join('\n'));
  }

  note(what: string): void {
    if (process.env['HISTORIES_SHOW'] !== undefined) console.error(`#${this.#seed} ${what.slice(0, 2000)}`);
    this.#log.push(what);
  }

  span(): Span {
    const from = FIRST + this.rng.below(LAST - FIRST + 1);
    return { from, to: Math.min(LAST, from + this.rng.below(12)) };
  }

  some(names: readonly string[]): readonly string[] {
    return [...new Set(Array.from({ length: 1 + this.rng.below(3) }, () => this.rng.pick(names)))];
  }

  /** @returns true if it was complete; why not, if it failed */
  async run(
    pipelines: readonly string[],
    span: Span,
    more: Partial<RunOptions> = {},
    to = this.path,
  ): Promise<boolean | string> {
    const walk = this.rng.pick(['auto', 'auto', 'masterchain', 'window'] as const);
    const commitEveryMs = this.rng.pick([0, 60_000]);
    const options = { walk, waitMs: 200, commitEveryMs, network: this.sandbox.url, ...more };
    const range = `${span.from}:${span.to}`;
    const outcome: RunReport | Error = await run({ pipelines, range, warehouse: to, ...options }).catch(
      (e: Error) => e,
    );
    const ended = outcome instanceof Error ? outcome.message : outcome.complete;
    const narrow = more.without === undefined ? '' : ` without ${more.without}`;
    this.note(`run ${pipelines} ${range} ${walk}${narrow}: ${ended}`);
    return ended;
  }

  async command(...args: string[]) {
    const env = { TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
    const finished = await tonlake([...args, '--warehouse', this.path], { env });
    this.note(`${args.join(' ')}: ${finished.code} ${finished.stderr}`);
    return { ...finished, said: finished.stdout + finished.stderr };
  }

  /** Blocks that a complete run has exported. */
  cover(pipelines: readonly string[], span: Span): void {
    for (const { name } of registry.toRun(pipelines)) {
      for (const block of blocksOf(span)) this.#blocks.get(name)?.add(block);
    }
  }

  uncover(pipeline: string, span: Span): void {
    for (const block of blocksOf(span)) this.#blocks.get(pipeline)?.delete(block);
  }

  hasAny(pipeline: string, span: Span): boolean {
    return blocksOf(span).some((block) => this.#blocks.get(pipeline)?.has(block));
  }

  /** Blocks that are there, by pipeline. */
  async status(): Promise<ReadonlyMap<string, readonly number[]>> {
    const env = { TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
    const { stdout } = await tonlake(['status', '--json', '--warehouse', this.path], { env });
    const { pipelines } = JSON.parse(stdout) as {
      pipelines: readonly { pipeline: string; proven: readonly Span[] }[];
    };
    return new Map(pipelines.map(({ pipeline, proven }) => [pipeline, proven.flatMap(blocksOf)]));
  }

  /** Of a run that was cut short only the warehouse knows what it has; its rows are compared nevertheless. */
  async learn(): Promise<void> {
    for (const [name, blocks] of await this.status()) for (const block of blocks) this.#blocks.get(name)?.add(block);
  }

  /** Does something while a query reads, and a reader is open: the one has the rows of its beginning, the other those of the end. */
  async readMeanwhile(change: () => Promise<void>): Promise<void> {
    const reader = await openReader(this.path, registry.tables);
    try {
      const table = this.rng.pick(['blocks', 'transactions', 'messages']);
      const select = `SELECT * FROM ${table} ORDER BY ALL`;
      const before = Number((await reader.query(`SELECT count(*) FROM ${table}`)).rows[0]?.[0]);
      const read = await reader.stream(select, undefined, async (rows) => {
        let count = 0;
        for await (const chunk of rows.chunks()) {
          if (count === 0) await change();
          count += chunk.length;
        }
        return count;
      });
      if (before === 0) await change();
      this.require(read === before, `a query of ${table} has ${read} rows, not ${before}`);
      const [open, fresh] = [await rowsIn(reader, CHAIN), await rowsOf(this.path, CHAIN)];
      for (const [name, rows] of fresh) {
        this.require(String(open.get(name)) === String(rows), `an open reader has other rows of ${name}`);
      }
    } finally {
      await reader.close();
    }
  }

  async check(): Promise<void> {
    const rows = await rowsOf(this.path, OF_BLOCKS);
    for (const [name, held] of rows) {
      const wrong = without(held, this.#whole.get(name) ?? []);
      this.require(wrong.length === 0, `${name} has rows that are wrong or there twice: ${wrong.slice(0, 3)}`);
    }
    const said = await this.status();
    for (const name of CHAIN) {
      const blocks = this.#blocks.get(name) ?? new Set();
      const expected = [...blocks].sort((a, b) => a - b);
      const [has, wanted] = [String(said.get(name) ?? []), String(expected)];
      this.require(has === wanted, `${name} has ${has}, not ${wanted}`);
      for (const table of registry.pipeline(name).tables) {
        const due = (this.#whole.get(table.name) ?? []).filter((row) => blocks.has(Number.parseInt(row, 10)));
        const held = rows.get(table.name) ?? [];
        const isPart = this.isNarrow && OPTIONAL.includes(table.name);
        this.require(isPart || without(due, held).length === 0, `${table.name} lacks rows`);
        this.require(without(held, due).length === 0, `${table.name} has rows of other blocks`);
      }
    }
  }

  /** OpenExport the whole range makes it what one export is, and so its marts. */
  async end(): Promise<void> {
    const everything = [...OF_BLOCKS, ...LOOKUPS];
    this.require((await this.run(everything, { from: FIRST, to: LAST })) === true, 'the last run is not complete');
    for (const command of [
      ['build', ...MARTS],
      ['verify', '--deep', '--range', `${FIRST}:${LAST}`],
      ['test', '--all'],
    ]) {
      const { code, said } = await this.command(...command);
      this.require(code === 0, said);
    }
    const rows = await rowsOf(this.path, OF_BLOCKS, MARTS);
    for (const [name, wanted] of this.#whole)
      this.require(String(rows.get(name)) === String(wanted), `${name} differs`);
  }
}
