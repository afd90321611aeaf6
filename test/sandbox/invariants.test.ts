import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { type Message, nameOf, readRange, type State, type Transaction, transactionsOf } from './support.ts';

const sandbox = await startSandbox({ blocks: 6000 });
const { blocks, transactions } = await readRange(sandbox, 1, 520);
const later: Transaction[] = [];
for (let seqno = 5760; seqno <= 5790; seqno += 1) later.push(...(await transactionsOf(sandbox, seqno)));
afterAll(() => sandbox.close());

const isFull = (state: State): boolean => state.balance !== null;

function chains(rows: readonly Transaction[]): Transaction[][] {
  const found = new Map<string, Transaction[]>();
  for (const row of [...rows].sort((a, b) => Number(BigInt(a.lt) - BigInt(b.lt)))) {
    found.set(row.account, [...(found.get(row.account) ?? []), row]);
  }
  return [...found.values()];
}

describe('blocks', () => {
  it('say exactly how many transactions they hold', () => {
    const counted = new Map<string, number>();
    for (const row of transactions) counted.set(nameOf(row.block_ref), (counted.get(nameOf(row.block_ref)) ?? 0) + 1);
    for (const block of blocks)
      expect([nameOf(block), counted.get(nameOf(block)) ?? 0]).toEqual([nameOf(block), block.tx_count]);
  });

  it('link to blocks before them, also through splits and merges', () => {
    const known = new Map(blocks.map((block) => [nameOf(block), block]));
    const followers = new Map<string, number>();
    for (const block of blocks) {
      expect(block.prev_blocks).toHaveLength(block.after_merge ? 2 : 1);
      for (const prev of block.prev_blocks) {
        followers.set(nameOf(prev), (followers.get(nameOf(prev)) ?? 0) + 1);
        const parent = known.get(nameOf(prev));
        if (block.masterchain_block_ref.seqno > 1) expect(parent, nameOf(block)).toBeDefined();
        if (parent === undefined) continue;
        expect(BigInt(block.start_lt)).toBeGreaterThanOrEqual(BigInt(parent.end_lt));
        expect(Number(block.gen_utime)).toBeGreaterThanOrEqual(Number(parent.gen_utime));
        expect(parent.before_split).toBe(block.after_split);
        expect(block.seqno).toBe(Math.max(...block.prev_blocks.map(({ seqno }) => seqno)) + 1);
      }
    }
    expect(blocks.filter((block) => block.after_merge).length).toBeGreaterThan(2);
    const twice = blocks.filter((block) => followers.get(nameOf(block)) === 2);
    expect(twice.every((block) => block.before_split)).toBe(true);
    expect(twice.length).toBeGreaterThan(2);
  });

  it('of 2 to 5 shards cover the basechain, with unpadded ids of 15 and 16 digits', () => {
    const shards = new Set(blocks.filter((block) => block.workchain === 0).map((block) => block.shard));
    expect(shards).toContain('800000000000000');
    expect(shards).toContain('E000000000000000');
    expect([...shards].every((shard) => /^[1-9A-F][0-9A-F]{14,15}$/.test(shard))).toBe(true);
  });

  it('hold the lt and the time of their transactions, and only accounts of their shard', () => {
    const known = new Map(blocks.map((block) => [nameOf(block), block]));
    for (const row of transactions) {
      const block = known.get(nameOf(row.block_ref));
      if (block === undefined) throw new Error(`no block of ${row.hash}`);
      expect(BigInt(row.lt)).toBeGreaterThanOrEqual(BigInt(block.start_lt));
      expect(BigInt(row.lt)).toBeLessThanOrEqual(BigInt(block.end_lt));
      expect(String(row.now)).toBe(block.gen_utime);
      expect(row.mc_block_seqno).toBe(block.masterchain_block_ref.seqno);
      const [workchain, id = ''] = row.account.split(':');
      expect(Number(workchain)).toBe(block.workchain);
      const shard = BigInt(`0x${block.shard}`);
      const mask = block.workchain === -1 ? 0n : ~((shard & -shard) * 2n - 1n);
      expect(BigInt(`0x${id.slice(0, 16)}`) & mask).toBe(block.workchain === -1 ? 0n : shard & mask);
    }
  });

  it('reach the masterchain late for about a quarter, so that neighbours overlap', () => {
    const shardBlocks = blocks.filter((block) => block.workchain === 0);
    const late = shardBlocks.filter((block) => block.masterchain_block_ref.seqno > block.master_ref_seqno + 1);
    expect(late.length / shardBlocks.length).toBeGreaterThan(0.15);
    expect(late.length / shardBlocks.length).toBeLessThan(0.35);
    expect(shardBlocks.some((block) => block.tx_count === 0)).toBe(true);
  });

  it('come by about 16 transactions, from a few to hundreds, and one above a thousand', async () => {
    const sizes = new Map<number, number>();
    for (const row of transactions) sizes.set(row.mc_block_seqno, (sizes.get(row.mc_block_seqno) ?? 0) + 1);
    const mean = transactions.length / 520;
    expect(mean).toBeGreaterThan(12);
    expect(mean).toBeLessThan(20);
    expect(Math.min(...sizes.values())).toBeLessThanOrEqual(3);
    expect(Math.max(...sizes.values())).toBeGreaterThan(150);
    expect((await transactionsOf(sandbox, 777)).length).toBeGreaterThan(2000);
  });
});

describe('transactions', () => {
  it('are told by hash and by account and lt, while many accounts share an lt', () => {
    expect(new Set(transactions.map((row) => row.hash)).size).toBe(transactions.length);
    expect(new Set(transactions.map((row) => `${row.account} ${row.lt}`)).size).toBe(transactions.length);
    expect(new Set(transactions.map((row) => row.lt)).size).toBeLessThan(transactions.length * 0.9);
  });

  it('follow one another on each account by hash, lt, status and state', () => {
    for (const chain of chains(transactions)) {
      chain.slice(1).forEach((row, index) => {
        const before = chain[index];
        expect(row.prev_trans_hash).toBe(before?.hash);
        expect(row.prev_trans_lt).toBe(before?.lt);
        expect(row.orig_status).toBe(before?.end_status);
        expect(row.account_state_before.hash).toBe(before?.account_state_after.hash);
        if (before !== undefined && isFull(before.account_state_after)) {
          expect(row.account_state_before).toEqual(before.account_state_after);
        } else expect(isFull(row.account_state_before)).toBe(false);
      });
    }
    expect(transactions.filter((row) => row.prev_trans_lt === '0').every((row) => row.orig_status === 'nonexist')).toBe(
      true,
    );
  });

  it('balance exactly wherever both balances are shown', () => {
    const known = [...transactions, ...later].filter(
      (row) => isFull(row.account_state_before) && isFull(row.account_state_after),
    );
    expect(known.length).toBeGreaterThan(2000);
    for (const row of known) {
      const sent = row.out_msgs.map(
        (message) => BigInt(message.value ?? 0) + BigInt(message.fwd_fee ?? 0) + BigInt(message.ihr_fee ?? 0),
      );
      const after =
        BigInt(row.account_state_before.balance ?? 0) +
        BigInt(row.in_msg?.value ?? 0) -
        BigInt(row.total_fees) -
        sent.reduce((a, b) => a + b, 0n);
      expect([row.hash, String(after)]).toEqual([row.hash, row.account_state_after.balance]);
      expect(BigInt(row.account_state_after.balance ?? -1)).toBeGreaterThanOrEqual(0n);
    }
  });

  it('of every masterchain block include a tick and a tock without messages', () => {
    for (let seqno = 1; seqno <= 520; seqno += 1) {
      const ticks = transactions.filter((row) => row.mc_block_seqno === seqno && row.description.type === 'tick_tock');
      expect(ticks.length).toBeGreaterThanOrEqual(2);
      expect(ticks.every((row) => row.in_msg === null && row.out_msgs.length === 0)).toBe(true);
    }
  });

  it('have the messages that they say they have', () => {
    for (const row of [...transactions, ...later]) {
      const { type, action, bounce } = row.description;
      const created = action?.success === true ? action.msgs_created : 0;
      const expected = [type === 'ord' ? 1 : 0, created + (bounce?.type === 'ok' ? 1 : 0)];
      expect([row.hash, row.in_msg === null ? 0 : 1, row.out_msgs.length]).toEqual([row.hash, ...expected]);
    }
  });

  it('belong to the trace of the transaction that caused them', () => {
    const known = new Map(transactions.map((row) => [row.hash, row]));
    const sender = new Map(transactions.flatMap((row) => row.out_msgs.map((message) => [message.hash, row] as const)));
    for (const row of transactions) {
      const cause = row.in_msg?.source ? sender.get(row.in_msg.hash) : undefined;
      if (cause !== undefined) expect(row.trace_id).toBe(cause.trace_id);
      else if (row.in_msg?.source == null) expect(row.trace_id).toBe(row.hash);
      else expect(known.has(row.trace_id)).toBe(false);
    }
  });
});

describe('messages', () => {
  it('are sent once and received once, equal on both sides, later than they were made', () => {
    const sent = new Map<string, [Message, Transaction]>();
    for (const row of transactions) for (const message of row.out_msgs) sent.set(message.hash, [message, row]);
    const received = transactions.flatMap((row) => (row.in_msg === null ? [] : [[row.in_msg, row] as const]));
    expect(new Set(received.map(([message]) => message.hash)).size).toBe(received.length);
    expect(sent.size).toBe(transactions.reduce((sum, row) => sum + row.out_msgs.length, 0));
    let both = 0;
    for (const [message, row] of received) {
      const origin = sent.get(message.hash);
      if (message.source === null) expect(origin).toBeUndefined();
      if (origin === undefined) continue;
      both += 1;
      expect(message).toEqual(origin[0]);
      expect(message.destination).toBe(row.account);
      expect(BigInt(row.lt)).toBeGreaterThan(BigInt(message.created_lt ?? 0));
      if (nameOf(row.block_ref) !== nameOf(origin[1].block_ref))
        expect(row.mc_block_seqno).toBeGreaterThan(origin[1].mc_block_seqno);
    }
    const open = [...sent.values()].filter(([message]) => message.destination !== null).length - both;
    expect(open).toBeLessThan(200);
  });

  it('are made right after their sender, in the order of out_msgs', () => {
    for (const row of transactions) {
      row.out_msgs.forEach((message, index) => {
        expect(message.created_lt).toBe(String(BigInt(row.lt) + BigInt(index + 1)));
        expect(message.source).toBe(row.account);
      });
    }
  });

  it('carry bodies whose cell hash is the stated one', () => {
    const simple = transactions
      .flatMap((row) => row.out_msgs)
      .filter((message) => message.message_content.body.length < 100);
    const checked = simple.slice(0, 300).filter((message) => {
      const boc = Buffer.from(message.message_content.body, 'base64');
      if (boc[6] !== 1) return false;
      const cell = boc.subarray(11, boc.length - 4);
      expect(createHash('sha256').update(cell).digest('base64')).toBe(message.message_content.hash);
      return true;
    });
    expect(checked.length).toBeGreaterThan(50);
  });
});

describe('what people sum up', () => {
  it('stays within what the chain has on the first day, of which the second begins with 5001', async () => {
    const most = (rows: readonly Transaction[]): bigint =>
      rows
        .flatMap(({ total_fees, in_msg, description: { compute_ph } }) =>
          [total_fees, in_msg?.value, compute_ph.gas_fees, compute_ph.gas_used].map((text) => BigInt(text ?? 0)),
        )
        .reduce((greatest, each) => (each > greatest ? each : greatest), 0n);
    const sunday = await Promise.all([4781, 4783, 4901].map((seqno) => transactionsOf(sandbox, seqno)));
    const monday = await Promise.all([5031, 5033, 5151].map((seqno) => transactionsOf(sandbox, seqno)));
    expect(most([...transactions, ...sunday.flat()])).toBeLessThan(10n ** 13n);
    for (const rows of monday) expect(most(rows)).toBe(2n ** 63n - 1n);
  });
});

describe('mainnet holds and so does the sandbox', () => {
  const has = (name: string, test: (row: Transaction) => boolean): void => {
    it(name, () => expect(transactions.some(test)).toBe(true));
  };
  has('aborted transactions', (row) => row.description.aborted);
  for (const reason of ['no_state', 'bad_state', 'no_gas', 'suspended']) {
    has(`compute phases skipped for ${reason}`, (row) => row.description.compute_ph.reason === reason);
  }
  for (const type of ['ok', 'nofunds', 'negfunds'])
    has(`bounce phases ${type}`, (row) => row.description.bounce?.type === type);
  has('failed action phases', (row) => row.description.action?.success === false);
  has('failed action phases that had created messages', (row) => {
    const { action } = row.description;
    return action?.success === false && action.msgs_created > 0 && row.out_msgs.length === 0;
  });
  has('destroyed accounts', (row) => row.description.destroyed && row.end_status === 'nonexist');
  has('accounts that freeze', (row) => row.orig_status === 'active' && row.end_status === 'frozen');
  has('storage fees due', (row) => row.description.storage_ph?.storage_fees_due !== undefined);
  has('bounced messages', (row) => row.in_msg?.bounced === true && row.in_msg.opcode === '0xffffffff');
  has(
    'external messages in, some with a normalized hash',
    (row) => row.in_msg?.source === null && row.in_msg.hash_norm !== undefined,
  );
  has(
    'external messages in without a hash of their own',
    (row) => row.in_msg?.source === null && row.in_msg.hash_norm === undefined,
  );
  has('external messages out', (row) => row.out_msgs.some((message) => message.destination === null));
  has('messages with extra currencies', (row) => Object.keys(row.in_msg?.value_extra_currencies ?? {}).length > 0);
  has('states with extra currencies', (row) => Object.keys(row.account_state_after.extra_currencies ?? {}).length > 0);
  has('bodies without opcode', (row) => row.in_msg !== null && row.in_msg.opcode === null);
  has('messages that deploy', (row) => row.in_msg?.init_state != null);
  has('lone surrogates in comments', (row) =>
    /\ud83d(?![\udc00-\udfff])/.test(row.in_msg?.message_content.decoded?.comment ?? ''),
  );
  has(
    'control characters in comments',
    (row) => row.in_msg?.message_content.decoded?.comment?.includes('\u0001\u0002') === true,
  );
  it('values, fees and gas at the end of 64 bits, from the second day on', () => {
    const extreme = later.filter((row) => row.total_fees === '9223372036854775807');
    expect(extreme).not.toEqual([]);
    for (const { description, out_msgs } of extreme) {
      expect(description.compute_ph).toMatchObject({ gas_fees: '9223372036854775807', gas_used: '72057594037927935' });
      expect(out_msgs[0]?.value).toBe('9223372036854775807');
    }
    const received = later.filter((row) => row.in_msg?.value === '9223372036854775807');
    expect(received).toHaveLength(extreme.length);
    for (const row of received) expect(row.description).toHaveProperty('credit_ph.credit', '9223372036854775807');
  });
  has('exit codes at the end of 32 bits', (row) => row.description.compute_ph.exit_code === -2147483648);
  has('hundreds of messages of one transaction', (row) => row.out_msgs.length > 200);
});
