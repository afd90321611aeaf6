import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { loadSections, readFacts } from '../../src/show/show-thing.ts';
import type { ShownThing } from '../../src/show/shown-thing.ts';
import { openStore } from '../../src/warehouse/index.ts';
import { openWarehouse } from '../../src/warehouse/query/warehouse-registry.ts';
import { tonlake } from '../cli.ts';
import { exportSandbox, texts } from '../marts/support.ts';
import { freshFolder } from '../scratch.ts';

const PIPELINES = ['transactions', 'traces', 'actions', 'account_latest', 'jetton_wallets', 'nft_items', 'dns_records'];

const warehouse = await exportSandbox('1000:1099', PIPELINES);

const show = (...args: readonly string[]) => tonlake(['show', ...args, '--warehouse', warehouse]);

async function shown(word: string): Promise<ShownThing> {
  const { code, stdout, stderr } = await show(word, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const titles = ({ sections }: ShownThing) => sections.map(({ title }) => title);

/** The facts of a section with one row. */
function factsOf({ sections }: ShownThing, title: string): Readonly<Record<string, string | null>> {
  const { columns = [], rows = [] } = sections.find((section) => section.title === title) ?? {};
  expect(rows).toHaveLength(1);
  return Object.fromEntries(columns.map((column, at) => [column, rows[0]?.[at] ?? null]));
}

describe('an account', () => {
  let account = '';
  let domain = '';
  beforeAll(async () => {
    [[account = '', domain = ''] = []] = await texts(
      warehouse,
      `SELECT dns_wallet, domain FROM dns_records_now JOIN transactions ON account = dns_wallet
        WHERE domain LIKE '%.ton' ORDER BY domain LIMIT 1`,
    );
  });

  test('has its balance, status, contract, jettons, items, domains and last transactions', async () => {
    const found = await shown(account);
    expect(titles(found)).toEqual(expect.arrayContaining(['domains', 'last transactions']));
    const [[status, balance] = []] = await texts(
      warehouse,
      `SELECT status, ton(balance) FROM account_latest_now WHERE address = '${account}'`,
    );
    expect(factsOf(found, 'account, when it was last read')).toMatchObject({ status, balance_ton: balance });
    const last = found.sections.find(({ title }) => title === 'last transactions');
    const hashes = await texts(
      warehouse,
      `SELECT hash FROM transactions WHERE account = '${account}' ORDER BY lt DESC LIMIT 10`,
    );
    expect(last?.rows.map((row) => row[last.columns.indexOf('hash')])).toEqual(hashes.flat());
  });

  test('is found by every form of its address, and by its domain', async () => {
    const found = await shown(account);
    expect(found).toMatchObject({ kind: 'address', value: account });
    expect(await shown(found.friendly ?? '')).toEqual(found);
    expect(await shown(account.toLowerCase())).toEqual(found);
    expect(await shown(`@${domain}`)).toEqual(found);
    expect(await shown(`@${domain.replace(/\.ton$/, '')}`)).toEqual(found);
  });

  test('that the warehouse does not have is an error', async () => {
    const { code, stderr } = await show(`0:${'AB'.repeat(32)}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('the warehouse has nothing of it; hint: ')]);
    expect(await show('@no-such-name')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('expected a domain'),
    });
  });
});

describe('a transaction', () => {
  test('has its fees, block and trace as a tree with opcodes, fees and exit codes, in every form of its hash', async () => {
    const [[hash = '', exit, fees, opcode] = []] = await texts(
      warehouse,
      `SELECT hash, compute_exit_code, ton(total_fees), opcode_label(opcode) FROM transactions
        JOIN messages ON tx_hash = hash AND direction = 'in' WHERE NOT compute_success AND opcode IS NOT NULL ORDER BY lt, hash LIMIT 1`,
    );
    const found = await shown(hash);
    const facts = factsOf(found, 'transaction');
    expect(facts['fees_ton']).toBe(fees);
    expect(facts['exit_code']).toMatch(new RegExp(`^${exit}\\b`));
    const hex = Buffer.from(hash, 'base64').toString('hex');
    expect(await shown(hex)).toEqual(found);
    expect(await shown(Buffer.from(hash, 'base64').toString('base64url'))).toEqual(found);
    const { stdout } = await show(hash);
    const line = stdout.split('\n').find((each) => each.endsWith('<-')) ?? '';
    expect(line).toContain(`─ ${hash.slice(0, 8)}…`);
    expect(line).toContain(`  ${opcode}  `);
    expect(line).toContain(`  fees ${fees}  exit code ${exit}`);
  });

  test('with --why says where its row is from', async () => {
    // The hash of the first transaction of a trace is the key of the trace, too.
    for (const sign of ['=', '<>']) {
      const [[hash = ''] = []] = await texts(
        warehouse,
        `SELECT hash FROM transactions WHERE hash ${sign} trace_id ORDER BY lt, hash LIMIT 1`,
      );
      const { code, stdout } = await show(hash, '--why');
      expect([code, stdout]).toEqual([0, expect.stringContaining('the file has the SHA-256 that the ledger recorded')]);
      expect(JSON.parse((await show(hash, '--why', '--json')).stdout).why).toMatchObject({
        table: 'transactions',
        rows: [{ values: { hash }, proof: { kind: 'counts' } }],
      });
    }
  });

  test('with --live is what the source sends', async () => {
    const [[hash = '', lt] = []] = await texts(
      warehouse,
      'SELECT hash, lt FROM transactions ORDER BY lt, hash LIMIT 1',
    );
    const { code, stdout, stderr } = await show(hash, '--live');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^GET \/transactions\?hash=/)]);
    expect(JSON.parse(stdout).transactions).toMatchObject([{ hash, lt }]);
  });
});

test('a message names both of its ends', async () => {
  const [[message = '', sender, receiver] = []] = await texts(
    warehouse,
    `SELECT msg_hash, o.tx_hash, i.tx_hash FROM messages o JOIN messages i USING (msg_hash)
      WHERE o.direction = 'out' AND i.direction = 'in' ORDER BY 1 LIMIT 1`,
  );
  expect(factsOf(await shown(message), 'message')).toMatchObject({ sent_by: sender, received_by: receiver });
});

test('an inbound external message is found by its normalized hash as by its own', async () => {
  const [[own = '', normalized = '', receiver] = []] = await texts(
    warehouse,
    'SELECT msg_hash, msg_hash_norm, tx_hash FROM messages WHERE msg_hash_norm IS NOT NULL ORDER BY tx_lt, msg_hash LIMIT 1',
  );
  for (const hash of [own, normalized])
    expect(factsOf(await shown(hash), 'message')).toMatchObject({ sent_by: null, received_by: receiver });
});

test('questions about a hash compare one column with it, so that files are skipped by Bloom filters', async () => {
  for (const { sql } of await loadSections('hash')) {
    const compared = [...sql.matchAll(/(\w+) (\S+) \$(?:thing|trace)/g)];
    expect(compared.length).toBe(sql.split('$').length - 1);
    expect(new Set(compared.map(([, , operator]) => operator))).toEqual(new Set(['=']));
    expect(sql).not.toMatch(/\bOR\b/);
  }
});

test('a block has its shards, its transactions, and what is proven of it', async () => {
  const found = await shown('1,005');
  const [[count] = []] = await texts(warehouse, 'SELECT count(*) FROM transactions WHERE mc_block_seqno = 1005');
  expect(factsOf(found, 'its transactions')['transactions']).toBe(count);
  expect(factsOf(found, 'masterchain block')['transactions_by_headers']).toBe(count);
  const commits = found.sections.find(({ title }) => title === 'commits');
  expect(commits?.rows.map(([pipeline, state]) => `${pipeline} ${state}`)).toEqual([
    ...[
      'blocks proven',
      'transactions proven',
      'traces proven',
      'actions unproven (compared with nothing)',
      'nft_transfers proven',
    ],
  ]);
  const [[root = ''] = []] = await texts(
    warehouse,
    'SELECT root_hash FROM blocks WHERE workchain = -1 AND seqno = 1005',
  );
  expect(factsOf(await shown(root), 'block')['seqno']).toBe('1005');
});

test.each(['address', 'hash', 'block', 'name'] as const)(
  'every question about a thing of kind %s names its tables',
  async (kind) => {
    const sections = await loadSections(kind);
    expect(sections.length).toBeGreaterThan(0);
    for (const { title, needs, sql } of sections) {
      expect(title).not.toBe('');
      const named = [...sql.matchAll(/\b(?:FROM|JOIN) ([a-z_]+)/g)].map(([, name = '']) => name.replace(/_now$/, ''));
      expect(new Set(named.filter((name) => name !== 'last'))).toEqual(new Set(needs));
    }
  },
);

test('options that say nothing about what is shown are refused', async () => {
  for (const args of [['transactions', '--live'], ['--why'], ['1005', '--files']]) {
    expect(await show(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: usage: expected/) });
  }
});

test('an address of testnet is shown in the form of testnet', async () => {
  const path = join(freshFolder(), 'w');
  const registry = await loadRegistry();
  const { tables, pipelines } = registry;
  await (await openStore({ path, network: 'testnet', tables, pipelines, effects: realEffects })).close();
  const opened = await openWarehouse(path, { registry });
  const { friendly } = await readFacts(opened, { kind: 'address', value: `0:${'0'.repeat(64)}` });
  await opened.reader.close();
  expect(friendly).toBe('kQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAHTW');
});
