import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DeliveryError, formatError } from '../../src/core/errors.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import type { Alert } from '../../src/feed/alert.ts';
import { alertFeed } from '../../src/feed/alert-feed.ts';
import { messageOf } from '../../src/feed/alert-message.ts';
import { loadAlerts } from '../../src/feed/load-alerts.ts';
import type { Sender } from '../../src/jobs/delivery-target.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { openReader } from '../../src/warehouse/index.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

const registry = await loadRegistry();
let sandbox: Sandbox;
/** Blocks 1:10. */
let exported: string;
beforeAll(async () => {
  sandbox = await startSandbox({ blocks: 60, activity: 0.3 });
  exported = join(freshFolder(), 'w');
  await exportTo(exported, '1:10');
});
afterAll(() => sandbox.close());

const PIPELINES = ['transactions', 'jetton_transfers'];

async function exportTo(warehouse: string, range: string, more: object = {}): Promise<void> {
  await run({ pipelines: PIPELINES, network: sandbox.url, range, warehouse, ...more });
}

const FEES = `select: select hash, account, total_fees from new_transactions
message: '{account} paid {total_fees}'
notify:
  - command: [cat]
`;
const TRANSFERS = `select: select * from new_jetton_transfers
message: '{source} sent {amount}'
notify: [{command: [cat]}]
`;

function load(text: string, pipelines = PIPELINES, env = {}): Promise<readonly Alert[]> {
  const file = join(freshFolder(), text.includes('new_jetton') ? 'transfers.yaml' : 'fees.yaml');
  writeFileSync(file, text);
  return loadAlerts(file, { registry, exported: registry.toRun(pipelines), env });
}

describe('an alert is checked before anything is sent', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      'a column that the select lacks',
      FEES.replace('{account}', '{acount}'),
      /a column of the select, got acount \(.*fees\.yaml:2:10\); hint: .*account/,
    ],
    ['no new rows', FEES.replace('new_', ''), /a select over new rows, got none \(.*fees\.yaml:1:9\)/],
    [
      'an unknown table',
      FEES.replace('new_transactions', 'new_transactionz'),
      /got transactionz \(.*fees\.yaml:1\); hint: did you mean transactions/,
    ],
    [
      'a table of readings',
      FEES.replace('new_transactions', 'new_jetton_masters'),
      /exported by blocks, got jetton_masters \(.*\.yaml:1\)/,
    ],
    [
      'a table that is not exported',
      FEES.replace('new_transactions', 'new_nft_transfers'),
      /tables that this command exports, got new_nft_transfers \(.*:1\); hint: add nft_transfers to its pipelines/,
    ],
    [
      'an unknown column in a line further down',
      FEES.replace('select hash, account, total_fees', '|\n  select hash, account,\n    total_fee'),
      /a valid select, got an error: .*total_fee.*\(.*fees\.yaml:3\)/,
    ],
    ['no select', FEES.replace('select hash', 'selekt hash'), /a valid select, got an error: .*\(.*fees\.yaml:1\)/],
    [
      'two statements',
      FEES.replace(/^.*\n/, 'select: select hash from new_transactions) t; select * from (select 1\n'),
      /select, got .*\(.*fees\.yaml:1/,
    ],
    [
      'new rows of two pipelines',
      FEES.replace('from new_transactions', 'from new_transactions, new_blocks'),
      /one pipeline, got those of blocks and transactions \(.*:1\)/,
    ],
    ['no key', FEES.replace('hash, ', ''), /a select with hash, which identify a row, got account/],
    ['a key that the select lacks', `${FEES}key: [hush]\n`, /a column of the select, got hush \(.*:5:7\)/],
    ['no target', FEES.replace(/notify:[\s\S]*/, ''), /the key notify, got nothing/],
    [
      'two targets in one',
      `${FEES}    webhook: https://example.org\n`,
      /one of webhook, webhook_env, command, got webhook and command \(.*:4:5\)/,
    ],
    [
      'a variable that is not set',
      FEES.replace('command: [cat]', 'webhook_env: HOOK'),
      /a URL in HOOK, got none \(.*:4:5\)/,
    ],
    ['an unknown key', `${FEES}sql: x\n`, /a known key of an alert, got "sql" \(.*:5:1\)/],
  ];

  test.each(cases)('%s', async (_, text, message) => {
    const accepted = await load(text).then(() => 'it was accepted', formatError);
    expect(accepted).toMatch(message);
  });

  test('names of a select that only begin like new rows are its own', async () => {
    const text = FEES.replace(
      'select hash, account, total_fees from new_transactions',
      'with new_ones as (from new_transactions) select hash, account, total_fees as new_fees, total_fees from new_ones',
    );
    expect((await load(text))[0]?.followed.tables.map(({ name }) => name)).toEqual(['transactions']);
  });

  test('the shipped ones are valid', async () => {
    const folder = join(import.meta.dirname, '../../pipelines/alerts');
    const all = { registry, exported: registry.toRun(registry.lasting), env: {} };
    expect((await loadAlerts(folder, all)).length).toBeGreaterThan(0);
  });

  test('a folder without files says so, and one that cannot be read says that', async () => {
    const place = { registry, exported: [], env: {} };
    const empty = freshFolder();
    await expect(loadAlerts(empty, place)).rejects.toThrow(`there are none in ${empty}`);
    await expect(loadAlerts(join(empty, 'nowhere'), place)).rejects.toThrow(`cannot read ${join(empty, 'nowhere')}`);
  });
});

describe('a message', () => {
  const values = new Map([
    ['comment', '{secret}\u001b[2J\n<!channel> @here & <b>'],
    ['secret', 'x'],
    ['long', 'y'.repeat(70_000)],
  ]);

  test('has hostile comments as text: no other column, no control character, no second line', () => {
    expect(messageOf('got: {comment}', 'none', values)).toBe(
      String.raw`got: {secret}\u001b[2J\n<!channel> @here & <b>`,
    );
  });

  test('has them without markup and mentions where the target reads them, and shortened', () => {
    expect(messageOf('<b>{comment}</b>', 'html', values)).toBe(
      '<b>{secret}\\u001b[2J\\n&lt;!channel&gt; @\u200bhere &amp; &lt;b&gt;</b>',
    );
    expect(messageOf('{long}', 'html', values)).toHaveLength(1000);
  });
});

interface Told {
  readonly id: string;
  readonly text: string;
  readonly again?: true;
  readonly row: Readonly<Record<string, unknown>>;
}

/** The target of an alert, and each start of the process that sends it. */
class Telling {
  readonly told: Told[] = [];
  readonly #warehouse: string;
  readonly #text: string;

  constructor(warehouse: string, text: string) {
    this.#warehouse = warehouse;
    this.#text = text;
  }

  /** Sends what is new. @returns true if it starts anew @param dieAt number of the alert after which the process is killed */
  async send({ dieAt = Number.POSITIVE_INFINITY, refuses = false, text = this.#text } = {}): Promise<boolean> {
    const [alert] = await load(text);
    const [target] = alert?.targets ?? [];
    if (alert === undefined || target === undefined) throw new Error('expected an alert');
    const sender: Sender = async (_, body) => {
      if (refuses) throw new DeliveryError('away', { retryable: true });
      this.told.push(JSON.parse(body));
      if (this.told.length === dieAt) throw new Error('killed');
    };
    const view = await openReader(this.#warehouse, registry.tables);
    const feed = alertFeed(this.#warehouse, alert, target);
    try {
      const isAnew = await feed.begin(view);
      await feed.deliver(view, sender);
      return isAnew;
    } finally {
      await view.close();
    }
  }

  /** Values of a column, of all alerts; sorted. */
  values(column: string): readonly unknown[] {
    return this.told.map(({ row }) => row[column]).sort();
  }
}

async function rowsOf(path: string, sql: string): Promise<readonly (readonly unknown[])[]> {
  const warehouse = await openWarehouse(path);
  const { rows } = await warehouse.query(sql);
  await warehouse.close();
  return rows;
}

function copyOf(warehouse: string): string {
  const copy = join(freshFolder(), 'w');
  cpSync(warehouse, copy, { recursive: true });
  return copy;
}

test('one alert is sent for one row, also after restarts and a kill, and when rows are exported again', async () => {
  const path = copyOf(exported);
  const telling = new Telling(path, FEES);
  // A new alert begins with the next commit.
  await telling.send();
  expect(telling.told).toEqual([]);
  await exportTo(path, '11:16');
  await expect(telling.send({ refuses: true })).rejects.toMatchObject({ name: 'DeliveryError', message: 'away' });
  await expect(telling.send({ dieAt: 3 })).rejects.toThrow('killed');
  await telling.send();
  await forgetRange({ warehouse: path, pipelines: ['blocks', 'transactions'], range: '12:14' });
  await exportTo(path, '12:14');
  await exportTo(path, '17:18');
  await telling.send();
  await telling.send();
  const rows = await rowsOf(path, 'SELECT hash, account, total_fees FROM transactions WHERE mc_block_seqno > 10');
  // Those that were tried before say so: the first was refused, the third was sent when the process was killed.
  expect(telling.told.filter(({ again }) => again).map(({ id }) => id)).toEqual([
    telling.told[0]?.id,
    telling.told[2]?.id,
  ]);
  const once = telling.told.filter((_, at) => at !== 3);
  expect(telling.told[3]?.id).toBe(telling.told[2]?.id);
  expect(once.map(({ row }) => row['hash']).sort()).toEqual(rows.map(([hash]) => hash).sort());
  expect(new Set(once.map(({ id }) => id)).size).toBe(rows.length);
  const [hash, account, fees] = rows[0] ?? [];
  expect(telling.told.find(({ row }) => row['hash'] === hash)?.text).toBe(`${account} paid ${fees}`);
});

test('nobody is told of rows that were there when an alert began, also when they are read again', async () => {
  const path = join(freshFolder(), 'w');
  await exportTo(path, '1:10', { withoutColumns: ['transactions.action_result_arg', 'jetton_transfers.query_id'] });
  const [fees, transfers] = [new Telling(path, FEES), new Telling(path, TRANSFERS)];
  for (const each of [fees, transfers]) await each.send();
  // More columns: all blocks are read again, and five more come.
  await exportTo(path, '1:15');
  for (const each of [fees, transfers]) await each.send();
  const later = async (sql: string) => (await rowsOf(path, sql)).map(([value]) => value).sort();
  expect(fees.values('hash')).toEqual(await later('SELECT hash FROM transactions WHERE mc_block_seqno > 10'));
  const newest = `(SELECT max(lt) FROM transactions WHERE mc_block_seqno <= 10)`;
  expect(transfers.values('tx_hash')).toEqual(
    await later(`SELECT tx_hash FROM jetton_transfers WHERE tx_lt > ${newest}`),
  );
  expect(transfers.told.length).toBeGreaterThan(0);
});

test('a changed select goes on from where the alert was, also if it reads another table of the same pipeline', async () => {
  const path = copyOf(exported);
  const telling = new Telling(path, FEES);
  await telling.send();
  await exportTo(path, '11:12');
  await telling.send();
  const before = telling.told.length;
  const text = FEES.replace('total_fees from', 'total_fees, lt from');
  await telling.send({ text });
  await forgetRange({ warehouse: path, pipelines: ['blocks', 'transactions'], range: '11:12' });
  await exportTo(path, '11:12');
  await telling.send({ text });
  expect(telling.told).toHaveLength(before);
  const more = `${FEES.replace('from new_transactions', 'from new_transactions left join new_messages on tx_hash = hash')}`;
  await exportTo(path, '13:14');
  expect(await telling.send({ text: more })).toBe(false);
  const rows = await rowsOf(path, 'SELECT hash FROM transactions WHERE mc_block_seqno > 10');
  expect(telling.values('hash')).toEqual(rows.map(([hash]) => hash).sort());
});

test('a changed select over another pipeline starts anew, and says so', async () => {
  const path = copyOf(exported);
  // The file has the same name.
  const telling = new Telling(path, `${FEES}# instead of new_jetton_transfers\n`);
  await telling.send();
  await exportTo(path, '11:12');
  expect(await telling.send({ text: TRANSFERS })).toBe(true);
  expect(telling.told).toEqual([]);
  expect(await telling.send({ text: TRANSFERS })).toBe(false);
});

test('rows with the same key are one alert, and a log that was cut by a crash is read', async () => {
  const path = copyOf(exported);
  const text = `${FEES}key: [account]\n`;
  const telling = new Telling(path, text);
  await telling.send();
  await exportTo(path, '11:13');
  await telling.send();
  const log = `${await logOf(path, text)}`;
  writeFileSync(log, `${readFileSync(log, 'utf8')}sent 0123`);
  await exportTo(path, '14:16');
  await telling.send();
  const accounts = await rowsOf(path, 'SELECT DISTINCT account FROM transactions WHERE mc_block_seqno > 10');
  expect(telling.values('account')).toEqual(accounts.map(([account]) => account).sort());
  expect(readFileSync(log, 'utf8')).toMatch(/^(try \w{32}\nsent \w{32}\n)+$/);
});

async function logOf(path: string, text: string): Promise<string> {
  const [alert] = await load(text);
  const [target] = alert?.targets ?? [];
  if (alert === undefined || target === undefined) throw new Error('expected an alert');
  return (await alertFeed(path, alert, target).lockPath()).replace(/lock$/, 'log');
}
