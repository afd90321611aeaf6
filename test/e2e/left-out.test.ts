import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import type { Selection } from '../../src/declare/selection.ts';
import { planRun } from '../../src/export/plan.ts';
import { readBatches } from '../../src/export/read-batches.ts';
import { type RunReport, run } from '../../src/export/run.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { runChecks } from '../../src/marts/run-checks.ts';
import { Database } from '../../src/sql/database.ts';
import { compactWarehouse } from '../../src/warehouse/compaction/compact.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { tonlake } from '../cli.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { type Lie, MESSAGE_LIES } from '../faults/lie-kinds.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, copyOf, fileOf, ledgerFiles, readEntry, repair, verify } from '../verify/support.ts';
import { query } from './export.ts';

const { tables } = await loadRegistry();
const SELECTION: Selection = {
  without: ['account_states'],
  columns: { transactions: ['hash', 'total_fees', 'compute_gas_used'] },
  withoutColumns: ['messages.body_boc', 'messages.decoded'],
};
const FLAGS = [
  ...['--without', 'account_states', '--columns', 'transactions=hash,total_fees,compute_gas_used'],
  ...['--without-column', 'messages.body_boc,messages.decoded'],
];

const sandbox = await startTestSandbox({ blocks: 300 });
const narrow = freshWarehouse();
await exportTo(narrow, '100:119', SELECTION);
const whole = freshWarehouse();
await exportTo(whole, '100:119');
const full = await contentOf(whole);

function freshWarehouse(name = 'w'): string {
  return join(freshFolder(), name);
}

async function exportTo(warehouse: string, range: string, selection: Selection = {}, more = {}): Promise<RunReport> {
  const pipelines = ['transactions'];
  return run({ pipelines, network: sandbox.url, range, warehouse, ...selection, ...more });
}

describe('the ledger', () => {
  test('says what was left out; keys, order, times and what proves the rows are always there', () => {
    const [entry] = ledgerFiles(narrow)
      .map(readEntry)
      .filter(({ pipeline }) => pipeline === 'transactions');
    expect(Object.keys(entry?.tables ?? {})).toEqual(['transactions', 'messages']);
    const { transactions = [], ...others } = entry?.without ?? {};
    expect(others).toEqual({ account_states: ['*'], messages: ['body_boc', 'decoded'] });
    const fixed = [
      'account',
      'lt',
      'now',
      'mc_block_seqno',
      'block_seqno',
      'block_date',
      'descr',
      'action_msgs_created',
    ];
    for (const name of [...fixed, 'hash', 'total_fees']) expect(transactions).not.toContain(name);
    expect(transactions).toContain('trace_id');
  });

  test('the files do not have the columns either', async () => {
    const file = join(narrow, fileOf(narrow, 'messages', 110));
    const described = await query(narrow, `SELECT name FROM parquet_schema('${file}')`);
    expect(described.flat()).toContain('msg_hash');
    expect(described.flat()).not.toContain('body_boc');
    expect(readFileSync(file).includes('body_boc')).toBe(false);
  });
});

describe('running again', () => {
  test.each(['w', 'w.duckdb'])(
    'without the selection reads the entries again as a whole, in one commit each (%s)',
    async (name) => {
      const warehouse = freshWarehouse(name);
      for (const range of ['100:109', '110:119']) await exportTo(warehouse, range, SELECTION);
      expect(await exportTo(warehouse, '100:119', SELECTION)).toMatchObject({ complete: true, spans: 0 });
      // One block of the second entry is asked for, and all of that entry comes.
      expect(await exportTo(warehouse, '112')).toMatchObject({ complete: true, spans: 1 });
      const { pipelines } = await readStatus(warehouse);
      const gaps = pipelines.flatMap(({ leftOut }) => leftOut.map(({ table, missing }) => ({ table, missing })));
      const missing = [{ from: 100, to: 109 }];
      expect(gaps).toEqual(['transactions', 'messages', 'account_states'].map((table) => ({ table, missing })));
      expect(await exportTo(warehouse, '100:119')).toMatchObject({ complete: true, spans: 1 });
      expect(await contentOf(warehouse)).toEqual(full);
      expect((await verify(warehouse, { deep: true })).report).toMatchObject({ proven: true, unchecked: [] });
    },
  );

  test('with another selection keeps what either of them has', async () => {
    const warehouse = freshWarehouse();
    await exportTo(warehouse, '100:104', { withoutColumns: ['messages.body_boc', 'messages.value'] });
    await exportTo(warehouse, '100:104', { withoutColumns: ['messages.body_boc', 'messages.source'] });
    expect(await query(warehouse, 'SELECT count(value) > 0, count(source) > 0, count(body_boc) FROM messages')).toEqual(
      [['true', 'true', '0']],
    );
    // What the warehouse has is more than this asks for.
    expect(await exportTo(warehouse, '100:104', SELECTION)).toMatchObject({ complete: true, spans: 0 });
  });

  test('a part that the source does not have leaves what was exported as it is', async () => {
    const warehouse = copyOf(narrow);
    const before = await contentOf(warehouse);
    sandbox.setFaults({ lies: [{ seqno: 110, kind: 'transaction-missing-last' }] });
    const events: string[] = [];
    const report = await exportTo(
      warehouse,
      '100:119',
      {},
      {
        ...{ effects: hurriedEffects(), waitMs: 0 },
        onEvent: (event: { event: string; message?: string }) =>
          event.event === 'problem' && events.push(event.message ?? ''),
      },
    );
    sandbox.setFaults(NO_FAULTS);
    expect(report.complete).toBe(false);
    expect(events.at(-1)).toMatch(
      /^walk transactions 100:119: expected all of it again to add .*, got nothing of 110; the old rows stay$/,
    );
    expect(await contentOf(warehouse)).toEqual(before);
    expect(await exportTo(warehouse, '100:119')).toMatchObject({ complete: true });
    expect(await contentOf(warehouse)).toEqual(full);
  });

  test('a list of which the source has fewer rows now stays as it was exported', async () => {
    const warehouse = freshWarehouse();
    // So far behind the head that it is not read again for its own sake.
    const distant = await startTestSandbox({ blocks: 4000 });
    const more = { pipelines: ['actions'], network: distant.url };
    await exportTo(warehouse, '100:119', { withoutColumns: ['actions.success'] }, more);
    const before = await contentOf(warehouse);
    distant.setFaults({ omits: [{ path: 'actions', rate: 0.3, lasting: true }] });
    const events: string[] = [];
    const onEvent = (event: { event: string; message?: string }): void => {
      if (event.event === 'problem') events.push(event.message ?? '');
    };
    const report = await exportTo(warehouse, '100:119', {}, { ...more, onEvent });
    distant.setFaults(NO_FAULTS);
    expect(report.complete).toBe(false);
    expect(events).toEqual([
      expect.stringMatching(
        /^walk actions 100:119: expected all of it again to add .*success, got \d+ of the \d+ rows of actions; the old rows stay$/,
      ),
    ]);
    expect(await contentOf(warehouse)).toEqual(before);
    expect(await exportTo(warehouse, '100:119', {}, more)).toMatchObject({ complete: true });
  });
});

describe('the proof', () => {
  /** What the source says of a block while it lies, in no order. */
  async function shown(lies: readonly Lie[], seqno: number): Promise<readonly string[]> {
    sandbox.setFaults({ lies });
    const response = await fetch(`${sandbox.url}/transactionsByMasterchainBlock?seqno=${seqno}&limit=1000`);
    sandbox.setFaults(NO_FAULTS);
    const { transactions } = (await response.json()) as { readonly transactions: readonly unknown[] };
    return transactions.map((record) => JSON.stringify(record)).sort();
  }

  /** Each lie about a block of its own, in which it changes something. Few blocks have what the last kinds leave out. */
  async function liesAboutMessages(): Promise<readonly Lie[]> {
    const free = new Set(Array.from({ length: 20 }, (_, at) => 100 + at));
    const lies: Lie[] = [];
    for (const kind of [...MESSAGE_LIES].reverse()) {
      for (const seqno of free) {
        const lie = { seqno, kind };
        if (isDeepStrictEqual(await shown([lie], seqno), await shown([], seqno))) continue;
        free.delete(seqno);
        lies.push(lie);
        break;
      }
    }
    return lies;
  }

  test('a source that lies about messages is not believed', async () => {
    const warehouse = freshWarehouse();
    const lies = await liesAboutMessages();
    expect(new Set(lies.map(({ kind }) => kind))).toEqual(MESSAGE_LIES);
    sandbox.setFaults({ lies });
    const options = { effects: hurriedEffects(), waitMs: 0 };
    expect(await exportTo(warehouse, '100:119', SELECTION, options)).toMatchObject({ complete: false });
    sandbox.setFaults(NO_FAULTS);
    // Accepted is only what is true, since it stays as it is; what was refused comes with the next run.
    expect(await exportTo(warehouse, '100:119', SELECTION)).toMatchObject({ complete: true });
    expect(await contentOf(warehouse)).toEqual(await contentOf(narrow));
    expect((await verify(warehouse)).report.proven).toBe(true);
  });

  test('verify says what it cannot compare, and finds nothing wrong', async () => {
    const { report } = await verify(narrow, { deep: true });
    expect(report).toMatchObject({ proven: true, findings: 0 });
    const [unchecked] = report.unchecked;
    expect(unchecked).toMatchObject({
      audit: 'chains of accounts and ends of messages',
      missing: [{ from: 100, to: 119 }],
    });
    expect(unchecked?.without).toContain('transactions.prev_trans_hash');
    expect((await verify(narrow)).report.unchecked).toEqual([]);
  });

  test('content is proven without opcodes, which are not checked', async () => {
    const warehouse = freshWarehouse();
    await exportTo(warehouse, '100:104', { withoutColumns: ['messages.opcode'] });
    const unchecked = [{ audit: 'opcodes of messages', without: ['messages.opcode'] }];
    expect((await verify(warehouse, { deep: true })).report).toMatchObject({ proven: true, findings: 0, unchecked });
  });

  test('projected rows are compared by the columns that both have', async () => {
    const warehouse = freshWarehouse();
    await exportTo(warehouse, '100:104', { withoutColumns: ['account_states.balance', 'account_states.data_boc'] });
    expect((await verify(warehouse)).report).toMatchObject({ proven: true, unchecked: [] });
    const other = freshWarehouse();
    await exportTo(other, '100:104', { withoutColumns: ['transactions.account_state_balance_after'] });
    const { report } = await verify(other);
    expect(report).toMatchObject({ proven: true, unchecked: [{ audit: 'rows of account_states' }] });
  });

  test.each(['w', 'w.duckdb'])(
    'a repair brings back the columns that the entry had, and no others (%s)',
    async (name) => {
      const warehouse = freshWarehouse(name);
      await exportTo(warehouse, '100:119', SELECTION);
      const before = await contentOf(warehouse);
      if (name === 'w') writeFileSync(join(warehouse, fileOf(warehouse, 'messages', 110)), 'torn');
      else {
        const database = await Database.open(warehouse);
        await database.run('DELETE FROM _rows.messages WHERE tx_mc_block_seqno = 110');
        database.close();
      }
      const { report, content } = await repair(sandbox, warehouse, { content: true });
      expect(report.proven).toBe(true);
      expect(content).toEqual(before);
      const { pipelines } = await readStatus(warehouse);
      const { pipelines: ofNarrow } = await readStatus(narrow);
      expect(pipelines.map(({ leftOut }) => leftOut)).toEqual(ofNarrow.map(({ leftOut }) => leftOut));
    },
  );

  test('entries are merged only with entries that left out the same', async () => {
    const warehouse = freshWarehouse();
    for (const range of ['100:104', '105:109']) await exportTo(warehouse, range, SELECTION);
    for (const range of ['110:114', '115:119']) await exportTo(warehouse, range);
    const before = await contentOf(warehouse);
    await compactWarehouse({ warehouse, tables, pipelines: [], effects: realEffects });
    const held = await query(
      warehouse,
      "SELECT span_from, span_to FROM _commits WHERE pipeline = 'transactions' ORDER BY ALL",
    );
    expect(held).toEqual([
      ['100', '109'],
      ['110', '119'],
    ]);
    expect(await contentOf(warehouse)).toEqual(before);
    expect((await verify(warehouse)).report.proven).toBe(true);
    await exportTo(warehouse, '100:109');
    expect(await contentOf(warehouse)).toEqual(full);
  });
});

describe('readers', () => {
  const sql = (text: string, ...more: readonly string[]) => tonlake(['sql', text, '--warehouse', narrow, ...more]);

  test('a query that reads what was left out warns, and is refused with --strict', async () => {
    const warned = await sql('select count(body_boc) from messages', '--format', 'csv');
    expect(warned.stderr).toBe('warning: messages was exported without body_boc in 100:119\n');
    const strict = await sql('select count(*) from account_states', '--strict');
    expect(strict).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('account_states was left out in 100:119'),
    });
    const { code, stderr } = await sql('select sum(total_fees), count(*) from transactions', '--strict');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect((await sql('select * from messages', '--strict')).code).toBe(1);
  });

  test('status and describe tell of it', async () => {
    const status = await tonlake(['status', '--long', '--warehouse', narrow]);
    expect(status.stdout).toContain('  left out     messages was exported without body_boc, decoded in 100:119\n');
    const described = await tonlake(['show', 'messages', '--warehouse', narrow]);
    expect(described.stdout).toContain('\nmessages was exported without body_boc, decoded in 100:119\n');
    expect((await tonlake(['show', 'blocks', '--warehouse', narrow])).stdout).not.toContain('was exported without');
  });

  test('marts and checks that read it are skipped with the reason', async () => {
    const warehouse = copyOf(narrow);
    const builds = await buildMarts(warehouse);
    const empty = builds.filter(
      ({ status, reason }) => status === 'empty' && /was (exported without|left out)/.test(reason ?? ''),
    );
    expect(empty.map(({ name }) => name)).toContain('accounts');
    expect(builds.find(({ name }) => name === 'block_times')).toMatchObject({ status: 'built' });
    const { checks } = await runChecks(warehouse);
    const skipped = checks.filter(({ reason }) => /was (exported without|left out)/.test(reason ?? ''));
    expect(skipped.map(({ name, status }) => `${name} ${status}`)).toContain('transaction_balances skipped');
    expect(checks.find(({ name }) => name === 'transactions_in_blocks')).toMatchObject({ status: 'passed' });
  });

  test('batches have the columns that are selected', async () => {
    const seen = new Map<string, readonly string[]>();
    for await (const { table, batch } of readBatches({ network: sandbox.url, range: '100:104', ...SELECTION })) {
      seen.set(
        table,
        batch.schema.fields.map((field) => field.name),
      );
    }
    expect([...seen.keys()]).toEqual(['transactions', 'messages']);
    expect(seen.get('messages')).not.toContain('body_boc');
    expect(seen.get('transactions')).toEqual(expect.arrayContaining(['hash', 'total_fees', 'block_date']));
  });

  test('a quote is for what is selected', async () => {
    const options = {
      pipelines: ['transactions'],
      network: sandbox.url,
      range: '100:119',
      warehouse: freshWarehouse(),
    };
    const [whole, part] = [await planRun(options), await planRun({ ...options, ...SELECTION })];
    expect(part.requests).toBe(whole.requests);
    expect(part.bytes).toBeLessThan(whole.bytes / 2);
    const again = await planRun({ ...options, warehouse: narrow });
    expect(again.pipelines.map(({ missing }) => missing)).toEqual([[], [{ from: 100, to: 119 }]]);
    expect((await planRun({ ...options, warehouse: narrow, ...SELECTION })).requests).toBe(0);
  });
});

describe('on the command line', () => {
  const attempt = (...flags: readonly string[]) =>
    tonlake(['run', '--network', sandbox.url, '--range', '100:104', '--warehouse', freshWarehouse(), ...flags]);

  test('flags select as the library does', async () => {
    const warehouse = freshWarehouse();
    const words = ['run', '--network', sandbox.url, '--range', '100:119', '--warehouse', warehouse];
    expect((await tonlake([...words, ...FLAGS])).code).toBe(0);
    expect(await contentOf(warehouse)).toEqual(await contentOf(narrow));
  });

  test.each([
    [
      ['--without', 'account_state'],
      'expected an exported table, got "account_state"; hint: did you mean account_states?',
    ],
    [['--without', 'transactions'], 'expected an optional table of transactions, got transactions'],
    [['--without', 'blocks'], 'expected an optional table of blocks, got blocks'],
    [['--without-column', 'messages.body'], 'expected a column of messages, got "body"; hint: did you mean body_hash?'],
    [['--without-column', 'body_boc'], 'expected TABLE.COLUMN, got "body_boc"; hint: did you mean messages.body_boc?'],
    [['--without-column', 'transactions.lt'], 'expected an optional column, got transactions.lt'],
    [['--without-column', 'transactions.descr'], 'expected an optional column, got transactions.descr'],
    [
      ['--columns', 'transactions=hash,acount'],
      'expected a column of transactions, got "acount"; hint: did you mean account?',
    ],
    [['--columns', 'traces=trace_id'], 'expected an exported table, got "traces"'],
    [['--columns', 'messages'], 'expected table=column,column'],
    [['--columns', 'messages=value', '--without', 'messages'], 'expected columns of an exported table, got messages'],
    [
      ['--columns', 'messages=value', '--without-column', 'messages.value'],
      'expected messages.value either to export or to leave out, got both',
    ],
  ])('%j is refused', async (flags, message) => {
    const { code, stderr } = await attempt(...flags);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(2);
  });

  test('descr can go with the messages that it counts', async () => {
    const { code } = await attempt('--without', 'messages', '--without-column', 'transactions.descr');
    expect(code).toBe(0);
  });

  test('a lookup whose keys are left out is refused before anything is asked', async () => {
    const flags = ['--without-column', 'messages.body_boc'];
    const { code, stderr } = await attempt('decoded_messages', ...flags);
    expect(stderr).toContain('usage decoded_messages: expected messages.body_boc in the selection, got it left out');
    expect(code).toBe(2);
    const warehouse = freshWarehouse();
    await exportTo(warehouse, '100:104', { withoutColumns: ['messages.body_boc'] });
    const later = await tonlake([
      'run',
      'decoded_messages',
      '--network',
      sandbox.url,
      '--range',
      '100:104',
      '-w',
      warehouse,
    ]);
    expect(later.stderr).toContain('decoded_messages');
    expect({ code: later.code, entries: readdirSync(join(warehouse, '_ledger')).length > 0 }).toEqual({
      code: 0,
      entries: true,
    });
  });
});
