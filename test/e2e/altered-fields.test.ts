import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { hashedColumns } from '../../src/audit/content-hash.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunReport, run } from '../../src/export/run.ts';
import { quoteName } from '../../src/sql/canonical-text.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import type { Json } from '../proof/genuine.ts';
import { type Changed, changedCopies, fieldsBy } from '../proof/sweep.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { chanceOf } from '../row-lies.ts';
import { freshFolder } from '../scratch.ts';
import { query } from './export.ts';

const RANGE = '1030:1035';
/** Runs with altered fields: TONLAKE_LIE_SEEDS=200 for all. */
const SEEDS = Number(process.env['TONLAKE_LIE_SEEDS'] ?? 2);
const SHARE = 0.09;

const registry = await loadRegistry();
const covered = new Set(fieldsBy(true));

interface Told {
  readonly warehouse: string;
  readonly report: RunReport;
  readonly problems: readonly string[];
}

let sandbox: TestSandbox;
let truth: ReadonlyMap<string, string>;
beforeAll(async () => {
  sandbox = await startTestSandbox({ hasTrueHashes: true });
  const { warehouse, report, problems } = await read('w');
  truth = await rowsOf(warehouse);
  expect([truth.size, problems]).toEqual([report.content['agrees'], []]);
});

async function read(name: string): Promise<Told> {
  const warehouse = join(freshFolder(), name);
  const problems: string[] = [];
  const report = await run({
    ...{ pipelines: ['transactions'], network: sandbox.url, range: RANGE, warehouse, effects: hurriedEffects() },
    onEvent: (event) => {
      if (event.event === 'problem') problems.push(event.message);
      if (event.event === 'quarantine') problems.push(`quarantined ${event.seqno}`);
    },
  });
  return { warehouse, report, problems };
}

/** What is stored of each transaction, with its messages, as a hash. */
async function rowsOf(warehouse: string): Promise<ReadonlyMap<string, string>> {
  const columnsOf = (table: string): string =>
    hashedColumns(registry.table(table))
      .map(({ name }) => quoteName(name))
      .join(', ');
  const rows = await query(
    warehouse,
    `SELECT hash, hash(${columnsOf('transactions')}), (SELECT sum(hash(${columnsOf('messages')})) FROM messages WHERE tx_hash = t.hash)
     FROM transactions t`,
  );
  return new Map(rows.map(([hash = '', ...own]) => [hash, own.join()]));
}

/** Alters one covered field of some transactions, the same whenever they are asked for. */
function altering(seed: number): ReadonlyMap<string, Changed> {
  const altered = new Map<string, Changed>();
  const alter = (transaction: Json): Json => {
    const hash = String(transaction['hash']);
    if (chanceOf(`${seed} ${hash}`) >= SHARE) return transaction;
    const copies = changedCopies(transaction).filter(({ path }) => covered.has(path));
    const copy = copies[Math.floor(chanceOf(`field ${seed} ${hash}`) * copies.length)];
    if (copy === undefined) return transaction;
    altered.set(hash, copy);
    return copy.transaction;
  };
  sandbox.answer = async (passing) => {
    const { status, body } = await passing.forward();
    if (!/^\/transactions/.test(passing.path) || status !== 200) return { status, body };
    const answer = JSON.parse(body) as { transactions: Json[] };
    return { status, body: JSON.stringify({ ...answer, transactions: answer.transactions.map(alter) }) };
  };
  return altered;
}

/** Altered transactions of which nothing was said, though other rows than the true ones are stored. */
function silent(altered: ReadonlyMap<string, Changed>, { problems }: Told, stored: ReadonlyMap<string, string>) {
  const said = problems.join('\n');
  return [...altered].flatMap(([hash, { path, transaction }]) => {
    const sent = String(transaction['hash']);
    const seqno = String(transaction['mc_block_seqno']);
    if (said.includes(sent) || stored.get(hash) === truth.get(hash)) return [];
    // One at another time, or twice, leaves its block out.
    return !stored.has(sent) && said.includes(seqno) ? [] : [`${path} of ${hash}`];
  });
}

describe(`one altered field in ${SHARE * 100} % of transactions`, () => {
  test.each(Array.from({ length: SEEDS }, (_, at) => at + 1))(
    'seed %i: each is named by its hash, or has its true value; no other is named',
    async (seed) => {
      const altered = altering(seed);
      const told = await read(seed % 2 === 0 ? 'w.duckdb' : 'w');
      const stored = await rowsOf(told.warehouse);
      expect(altered.size).toBeGreaterThan(0);
      expect(silent(altered, told, stored)).toEqual([]);
      const named = [...truth.keys()].filter((hash) => told.problems.join().includes(hash));
      expect(named.filter((hash) => !altered.has(hash))).toEqual([]);
      const others = [...stored].filter(([hash]) => truth.has(hash) && !altered.has(hash));
      expect(others.filter(([hash, row]) => row !== truth.get(hash))).toEqual([]);
    },
  );
});
