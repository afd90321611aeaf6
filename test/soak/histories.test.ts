import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { hashedColumns } from '../../src/audit/content-hash.ts';
import { realEffects } from '../../src/core/effects.ts';
import type { Span } from '../../src/core/span.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunReport, run } from '../../src/export/run.ts';
import { Rng } from '../../src/sandbox/chain/mix.ts';
import { quoteName } from '../../src/sql/canonical-text.ts';
import { compactWarehouse } from '../../src/warehouse/compaction/compact.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { tonlake } from '../cli.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { anyDamage, breakFile } from '../verify/damages.ts';

// Random histories of real warehouses. After each step every row is there once, as one export of the whole range has it, and blocks that
// were exported and not forgotten are there. HISTORIES=1:40 are the seeds; every third one is a DuckDB file.
const [FROM = 1, TO = 12] = (process.env['HISTORIES'] ?? '1:12').split(':').map(Number);
/** Over midnight. */
const [FIRST, LAST] = [4986, 5015];

const CHAIN = ['blocks', 'transactions'];
const LISTS = ['traces', 'actions', 'jetton_transfers', 'jetton_burns', 'nft_transfers', 'message_links'];
const OF_BLOCKS = [...CHAIN, ...LISTS];
const LOOKUPS = ['decoded_messages', 'jetton_wallets', 'account_latest', 'address_book', 'nft_items', 'jetton_masters'];
const MARTS = [
  ...['accounts', 'latest_balances', 'transactions_daily', 'gas_fees_daily', 'active_accounts_daily'],
  'jetton_holders_daily',
];
/** Tables that a run may leave out. */
const OPTIONAL = ['account_states', 'messages'];

const registry = await loadRegistry();

/** Rows by table, each as its masterchain block, if it names one, and a hash of its values. */
type Rows = ReadonlyMap<string, readonly string[]>;

async function rowsOf(path: string, pipelines: readonly string[], marts: readonly string[] = []): Promise<Rows> {
  const reader = await openReader(path, registry.tables);
  try {
    const built = (await reader.marts()).filter(({ name }) => marts.includes(name));
    const tables = pipelines.flatMap((name) => registry.pipeline(name).tables);
    const rows = new Map<string, readonly string[]>();
    for (const table of [...tables, ...built]) {
      const columns = hashedColumns(table).map(({ name }) => quoteName(name));
      const block = table.columns.find(({ name }) => /^(tx_)?mc_block_seqno$/.test(name))?.name ?? 'NULL';
      const found = await reader.query(
        `SELECT concat(${block}, ':', hash(${columns.join(', ')})) FROM ${quoteName(table.name)}`,
      );
      rows.set(table.name, found.rows.map(([row]) => String(row)).sort());
    }
    return rows;
  } finally {
    await reader.close();
  }
}

/** Rows without those of others; a row that is there twice counts twice. */
function without(rows: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const row of others) left.set(row, (left.get(row) ?? 0) + 1);
  return rows.filter((row) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0;
  });
}

const blocksOf = ({ from, to }: Span): readonly number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

let sandbox: TestSandbox;
let whole: Rows;

beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 5300 });
  const path = join(freshFolder(), 'whole');
  const pipelines = [...OF_BLOCKS, ...LOOKUPS];
  expect(await run({ pipelines, network: sandbox.url, range: `${FIRST}:${LAST}`, warehouse: path })).toMatchObject({
    complete: true,
  });
  expect((await tonlake(['build', ...MARTS, '--warehouse', path])).code).toBe(0);
  whole = await rowsOf(path, OF_BLOCKS, MARTS);
});

/** A warehouse, what was done to it, and the blocks that it must have. */
class History {
  readonly #rng: Rng;
  readonly #seed: number;
  readonly #folder = freshFolder();
  readonly #log: string[] = [];
  /** Blocks of each pipeline that were exported and not forgotten. */
  readonly #blocks = new Map<string, Set<number>>(OF_BLOCKS.map((name) => [name, new Set()]));
  #path: string;
  #copies = 0;
  #isNarrow = false;

  constructor(seed: number) {
    this.#seed = seed;
    this.#rng = new Rng(seed, 0x4157);
    this.#path = join(this.#folder, seed % 3 === 0 ? 'w.duckdb' : 'w');
  }

  get #isFile(): boolean {
    return this.#path.endsWith('.duckdb');
  }

  async play(): Promise<void> {
    const ofFolders = [() => this.damage(), () => this.copy(), () => this.add(), () => this.publish()];
    const steps = [
      ...[() => this.export(), () => this.export(), () => this.export(), () => this.exportNarrow()],
      ...[() => this.exportPart(), () => this.lookUp(), () => this.forget(), () => this.forget()],
      ...[() => this.compact(), () => this.verify(), () => this.build(), () => this.build()],
      ...(this.#isFile ? [] : ofFolders),
    ];
    await this.export();
    for (let left = 6 + this.#rng.below(8); left > 0; left--) {
      await this.#rng.pick(steps)();
      await this.#check();
    }
    await this.#end();
  }

  /** Also shows what was done before. */
  #require(isRight: boolean, what: string): void {
    if (!isRight) throw new Error([`seed ${this.#seed}: ${what}`, ...this.#log].join('\n'));
  }

  #span(): Span {
    const from = FIRST + this.#rng.below(LAST - FIRST + 1);
    return { from, to: Math.min(LAST, from + this.#rng.below(12)) };
  }

  #some(names: readonly string[]): readonly string[] {
    return [...new Set(Array.from({ length: 1 + this.#rng.below(3) }, () => this.#rng.pick(names)))];
  }

  async #run(pipelines: readonly string[], span: Span, more: Partial<Parameters<typeof run>[0]> = {}, to = this.#path) {
    const walk = this.#rng.pick(['auto', 'auto', 'masterchain', 'window'] as const);
    const options = { walk, waitMs: 200, commitEveryMs: this.#rng.pick([0, 60_000]), network: sandbox.url, ...more };
    const range = `${span.from}:${span.to}`;
    const outcome: RunReport | Error = await run({ pipelines, range, warehouse: to, ...options }).catch(
      (e: Error) => e,
    );
    const ended = outcome instanceof Error ? outcome.message : outcome.complete;
    const narrow = more.without === undefined ? '' : ` without ${more.without}`;
    this.#log.push(`run ${pipelines} ${range} ${walk}${narrow}: ${ended}`);
    return ended === true;
  }

  async #command(...args: string[]) {
    const finished = await tonlake([...args, '--warehouse', this.#path]);
    this.#log.push(`${args.join(' ')}: ${finished.code} ${finished.stderr}`);
    return { ...finished, said: finished.stdout + finished.stderr };
  }

  #cover(pipelines: readonly string[], span: Span): void {
    for (const { name } of registry.toRun(pipelines)) {
      for (const block of blocksOf(span)) this.#blocks.get(name)?.add(block);
    }
  }

  async export(): Promise<void> {
    const [pipelines, span] = [this.#some(OF_BLOCKS), this.#span()];
    this.#require(await this.#run(pipelines, span), 'a run is not complete');
    this.#cover(pipelines, span);
  }

  /** A run that another pipeline can refuse, which needs what is left out. */
  async exportNarrow(): Promise<void> {
    const [pipelines, span] = [this.#some(OF_BLOCKS), this.#span()];
    if (await this.#run(pipelines, span, { without: this.#some(OPTIONAL) })) {
      this.#isNarrow = true;
      this.#cover(pipelines, span);
    } else await this.#learn();
  }

  /** A run that is stopped, or whose source fails, after some requests. */
  async exportPart(): Promise<void> {
    const stop = new AbortController();
    const [most, isStopped] = [this.#rng.below(20), this.#rng.chance(0.5)];
    let asked = 0;
    sandbox.answer = (passing) => {
      asked++;
      if (asked > most && isStopped) stop.abort();
      if (asked > most && !isStopped) return { status: 404, body: '{"error":"gone"}' };
      return passing.forward();
    };
    await this.#run(this.#some(OF_BLOCKS), this.#span(), { signal: stop.signal });
    sandbox.answer = undefined;
    await this.#learn();
  }

  async lookUp(): Promise<void> {
    const [pipelines, span] = [[this.#rng.pick(LOOKUPS)], { from: FIRST, to: FIRST }];
    this.#require(await this.#run(pipelines, span), 'a lookup is not complete');
    this.#cover(pipelines, span);
  }

  async forget(): Promise<void> {
    const span = this.#span();
    const chosen = this.#rng.pick([OF_BLOCKS, OF_BLOCKS, LISTS, [this.#rng.pick(LISTS)]]);
    const held = new Set((await this.#status()).keys());
    const names = chosen.filter((name) => held.has(name));
    if (names.length === 0) return;
    const { code, said } = await this.#command('forget', ...names, '--range', `${span.from}:${span.to}`, '--yes');
    // Lists without blocks can only be forgotten by whole entries.
    this.#require(code === 0 || said.includes('got a part of it'), 'blocks are not forgotten');
    if (code !== 0) return;
    for (const name of names) for (const block of blocksOf(span)) this.#blocks.get(name)?.delete(block);
  }

  /** To its end, or cut short at a step of a commit. */
  async compact(): Promise<void> {
    let left = this.#rng.below(24);
    const onStep = async (step: string): Promise<void> => {
      if (left-- === 0) throw new Error(`cut short before ${step}`);
    };
    const what = { tables: registry.tables, pipelines: registry.toRun(registry.lasting), effects: realEffects };
    const ended = await compactWarehouse({ warehouse: this.#path, onStep, ...what }).then(
      () => 'done',
      ({ message }: Error) => message,
    );
    this.#log.push(`compact: ${ended}`);
  }

  async verify(): Promise<void> {
    const { code, said } = await this.#command('verify', '--deep');
    this.#require(code === 0, said);
  }

  async build(): Promise<void> {
    await this.#command('build', this.#rng.pick(MARTS));
  }

  async damage(): Promise<void> {
    const [damages = []] = fc.sample(anyDamage(this.#path), { seed: this.#rng.next(), numRuns: 1 });
    for (const each of damages) {
      breakFile(this.#path, each);
      this.#log.push(`${each.file} is ${each.how} at ${each.place}, ${each.bit}`);
    }
    const { code, said } = await this.#command('verify', '--repair', '--deep');
    this.#require(code === 0, said);
  }

  async copy(): Promise<void> {
    const to = join(this.#folder, `copy${++this.#copies}`);
    const { code, stderr } = await tonlake(['copy', this.#path, to]);
    this.#log.push(`copy: ${code}`);
    this.#require(code === 0, stderr);
    this.#path = to;
  }

  /** Blocks of another warehouse; commits of which some blocks are there are not added. */
  async add(): Promise<void> {
    const other = join(this.#folder, `other${++this.#copies}`);
    const [pipelines, span] = [this.#some(OF_BLOCKS), this.#span()];
    await this.#run(pipelines, span, {}, other);
    const { code, stdout, stderr } = await tonlake(['copy', '--add', other, this.#path]);
    this.#log.push(`copy --add: ${code} ${stdout}`);
    this.#require(code === 0, stderr);
    for (const { name } of registry.toRun(pipelines)) {
      const held = this.#blocks.get(name);
      if (blocksOf(span).some((block) => held?.has(block))) continue;
      for (const block of blocksOf(span)) held?.add(block);
    }
  }

  async publish(): Promise<void> {
    const { code, said } = await this.#command('publish', 'iceberg');
    this.#require(code === 0, said);
  }

  /** Blocks that are there, by pipeline. */
  async #status(): Promise<ReadonlyMap<string, readonly number[]>> {
    const { stdout } = await tonlake(['status', '--json', '--warehouse', this.#path]);
    const { pipelines } = JSON.parse(stdout) as {
      pipelines: readonly { pipeline: string; proven: readonly Span[] }[];
    };
    return new Map(pipelines.map(({ pipeline, proven }) => [pipeline, proven.flatMap(blocksOf)]));
  }

  /** Of a run that was cut short only the warehouse knows what it has; its rows are compared nevertheless. */
  async #learn(): Promise<void> {
    for (const [name, blocks] of await this.#status()) for (const block of blocks) this.#blocks.get(name)?.add(block);
  }

  async #check(): Promise<void> {
    const rows = await rowsOf(this.#path, OF_BLOCKS);
    for (const [name, held] of rows) {
      this.#require(
        without(held, whole.get(name) ?? []).length === 0,
        `${name} has rows that are wrong or there twice`,
      );
    }
    const said = await this.#status();
    for (const name of CHAIN) {
      const blocks = this.#blocks.get(name) ?? new Set();
      const expected = [...blocks].sort((a, b) => a - b);
      this.#require(
        String(said.get(name) ?? []) === String(expected),
        `${name} has ${said.get(name)}, not ${expected}`,
      );
      for (const table of registry.pipeline(name).tables) {
        const due = (whole.get(table.name) ?? []).filter((row) => blocks.has(Number.parseInt(row, 10)));
        const held = rows.get(table.name) ?? [];
        const isPart = this.#isNarrow && OPTIONAL.includes(table.name);
        this.#require(isPart || without(due, held).length === 0, `${table.name} lacks rows`);
        this.#require(without(held, due).length === 0, `${table.name} has rows of other blocks`);
      }
    }
  }

  /** Exporting the whole range makes it what one export is, and so its marts. */
  async #end(): Promise<void> {
    this.#require(
      await this.#run([...OF_BLOCKS, ...LOOKUPS], { from: FIRST, to: LAST }),
      'the last run is not complete',
    );
    for (const command of [
      ['build', ...MARTS],
      ['verify', '--deep', '--range', `${FIRST}:${LAST}`],
      ['test', '--all'],
    ]) {
      const { code, said } = await this.#command(...command);
      this.#require(code === 0, said);
    }
    const rows = await rowsOf(this.#path, OF_BLOCKS, MARTS);
    for (const [name, wanted] of whole) this.#require(String(rows.get(name)) === String(wanted), `${name} differs`);
  }
}

describe('a warehouse', () => {
  test.each(blocksOf({ from: FROM, to: TO }))(
    'holds what was exported and not forgotten, whatever was done to it (%i)',
    async (seed) => {
      await new History(seed).play();
    },
  );
});
