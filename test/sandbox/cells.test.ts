import {
  Address,
  beginCell,
  Cell,
  type CommonMessageInfo,
  type CurrencyCollection,
  Dictionary,
  loadStateInit,
  type Message,
  storeMessage,
  storeTransaction,
  type TransactionDescription,
} from '@ton/core';
import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { type Answer, ask, askJson } from './support.ts';

type Extra = Readonly<Record<string, string>> | undefined;

function amount(value: string, extra: Extra): CurrencyCollection {
  const other = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.BigVarUint(5));
  for (const [id, units] of Object.entries(extra ?? {})) other.set(Number(id), BigInt(units));
  return { coins: BigInt(value), other };
}

function infoOf(row: Answer): CommonMessageInfo {
  const [src, dest] = [row.source, row.destination].map((raw) => (raw === null ? null : Address.parse(raw)));
  const created = { createdAt: Number(row.created_at ?? 0), createdLt: BigInt(row.created_lt ?? 0) };
  if (src === null) return { type: 'external-in', src: null, dest: dest as Address, importFee: BigInt(row.import_fee) };
  if (dest === null) return { type: 'external-out', src: src as Address, dest: null, ...created };
  return {
    type: 'internal',
    ihrDisabled: row.ihr_disabled,
    bounce: row.bounce,
    bounced: row.bounced,
    src: src as Address,
    dest: dest as Address,
    value: amount(row.value, row.value_extra_currencies),
    ihrFee: BigInt(row.extra_flags ?? 0),
    forwardFee: BigInt(row.fwd_fee),
    ...created,
  };
}

/** The cell of a message; its body can be inline or in a cell of its own, as its hash shows. */
function messageCell(row: Answer): Cell {
  const body = Cell.fromBase64(row.message_content.body);
  const init = row.init_state === null ? null : loadStateInit(Cell.fromBase64(row.init_state.body).beginParse());
  const cells = [true, false].map((forceRef) =>
    beginCell()
      .store(storeMessage({ info: infoOf(row), init, body }, { forceRef }))
      .endCell(),
  );
  return cells.find((cell) => cell.hash().toString('base64') === row.hash) ?? (cells[0] as Cell);
}

const SKIPS = { no_state: 'no-state', bad_state: 'bad-state', no_gas: 'no-gas' } as const;

function descriptionOf(row: Answer): TransactionDescription {
  const { storage_ph: storage, credit_ph: credit, compute_ph: compute, action, bounce } = row;
  const some = (value: string | undefined): bigint | undefined => (value === undefined ? undefined : BigInt(value));
  const storagePhase = storage && {
    storageFeesCollected: BigInt(storage.storage_fees_collected),
    storageFeesDue: some(storage.storage_fees_due),
    statusChange: storage.status_change,
  };
  const hash = (text: string): bigint => BigInt(`0x${Buffer.from(text, 'base64').toString('hex')}`);
  const computePhase = compute.skipped
    ? { type: 'skipped' as const, reason: SKIPS[compute.reason as keyof typeof SKIPS] }
    : {
        type: 'vm' as const,
        success: compute.success,
        messageStateUsed: compute.msg_state_used,
        accountActivated: compute.account_activated,
        gasFees: BigInt(compute.gas_fees),
        gasUsed: BigInt(compute.gas_used),
        gasLimit: BigInt(compute.gas_limit),
        gasCredit: some(compute.gas_credit),
        // @ton/core writes this signed byte as an unsigned one.
        mode: compute.mode & 255,
        exitCode: compute.exit_code,
        exitArg: compute.exit_arg,
        vmSteps: compute.vm_steps,
        vmInitStateHash: hash(compute.vm_init_state_hash),
        vmFinalStateHash: hash(compute.vm_final_state_hash),
      };
  const size = (one: Answer): { cells: bigint; bits: bigint } => ({ cells: BigInt(one.cells), bits: BigInt(one.bits) });
  const actionPhase = action && {
    success: action.success,
    valid: action.valid,
    noFunds: action.no_funds,
    statusChange: action.status_change,
    totalFwdFees: some(action.total_fwd_fees),
    totalActionFees: some(action.total_action_fees),
    resultCode: action.result_code,
    resultArg: action.result_arg,
    totalActions: action.tot_actions,
    specActions: action.spec_actions,
    skippedActions: action.skipped_actions,
    messagesCreated: action.msgs_created,
    actionListHash: hash(action.action_list_hash),
    totalMessageSize: size(action.tot_msg_size),
  };
  const { aborted, destroyed } = row;
  if (row.type === 'tick_tock') {
    return { type: 'tick-tock', isTock: row.is_tock, storagePhase, computePhase, actionPhase, aborted, destroyed };
  }
  const bouncePhase =
    bounce &&
    {
      negfunds: { type: 'negative-funds' as const },
      nofunds: {
        type: 'no-funds' as const,
        messageSize: bounce.msg_size && size(bounce.msg_size),
        requiredForwardFees: BigInt(bounce.req_fwd_fees ?? 0),
      },
      ok: {
        type: 'ok' as const,
        messageSize: bounce.msg_size && size(bounce.msg_size),
        messageFees: BigInt(bounce.msg_fees ?? 0),
        forwardFees: BigInt(bounce.fwd_fees ?? 0),
      },
    }[bounce.type as 'ok' | 'nofunds' | 'negfunds'];
  return {
    type: 'generic',
    creditFirst: row.credit_first,
    storagePhase,
    creditPhase: credit && {
      dueFeesColelcted: some(credit.due_fees_collected),
      credit: amount(credit.credit, credit.credit_extra_currencies),
    },
    computePhase,
    actionPhase,
    bouncePhase,
    aborted,
    destroyed,
  };
}

const STATUS = { uninit: 'uninitialized', frozen: 'frozen', active: 'active', nonexist: 'non-existing' } as const;

/** The cell of a transaction. @ton/core does not know which messages have their body in a cell of its own, so their cell replaces an empty one. */
function transactionHash(row: Answer): string {
  const sent = Dictionary.empty(Dictionary.Keys.Uint(15), Dictionary.Values.Cell());
  for (const [index, message] of row.out_msgs.entries()) sent.set(index, messageCell(message));
  const messages = beginCell()
    .storeMaybeRef(row.in_msg && messageCell(row.in_msg))
    .storeDict(sent)
    .endCell();
  const hash = (text: string): Buffer => Buffer.from(text, 'base64');
  const known = {
    address: BigInt(`0x${row.account.split(':')[1]}`),
    lt: BigInt(row.lt),
    prevTransactionHash: BigInt(`0x${hash(row.prev_trans_hash).toString('hex')}`),
    prevTransactionLt: BigInt(row.prev_trans_lt),
    now: row.now,
    outMessagesCount: row.out_msgs.length,
    oldStatus: STATUS[row.orig_status as keyof typeof STATUS],
    endStatus: STATUS[row.end_status as keyof typeof STATUS],
    outMessages: Dictionary.empty<number, Message>(),
    totalFees: amount(row.total_fees, row.total_fees_extra_currencies),
    stateUpdate: { oldHash: hash(row.account_state_before.hash), newHash: hash(row.account_state_after.hash) },
    description: descriptionOf(row.description),
  };
  const { bits, refs } = beginCell()
    .store(storeTransaction({ ...known, raw: Cell.EMPTY, hash: () => Buffer.alloc(0) }))
    .endCell();
  const none = beginCell().storeUint(0, 2).endCell();
  const own = refs.map((ref) => (ref.equals(none) ? messages : ref));
  return new Cell({ bits, refs: own }).hash().toString('base64');
}

const sandbox = await startSandbox({ blocks: 5800 });
afterAll(() => sandbox.close());

describe('the hashes of a network', () => {
  // An epoch has every kind of transaction; the last slots have what begins in one epoch and ends in the next.
  const spans = [
    [1, 40],
    [245, 256],
    [777, 777],
    [5241, 5256],
  ] as const;

  it.each(spans)('from block %i to %i are those of the cells that @ton/core makes', async (from, to) => {
    const wrong: string[] = [];
    const kinds = new Set<string>();
    for (let seqno = from; seqno <= to; seqno += 1) {
      const { transactions: rows } = await askJson(sandbox, `/transactions?mc_seqno=${seqno}&limit=1000`);
      for (const row of rows) {
        const { type, compute_ph: compute, bounce } = row.description;
        kinds.add([type, compute.reason, bounce?.type, row.out_msgs.length > 1].join(' '));
        // @ton/core does not know transactions of suspended accounts.
        if (compute.reason !== 'suspended' && transactionHash(row) !== row.hash) wrong.push(row.hash);
        for (const message of [row.in_msg, ...row.out_msgs]) {
          if (message === null) continue;
          if (messageCell(message).hash().toString('base64') !== message.hash) wrong.push(message.hash);
          for (const content of [message.message_content, message.init_state]) {
            if (content !== null && Cell.fromBase64(content.body).hash().toString('base64') !== content.hash) {
              wrong.push(content.hash);
            }
          }
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(kinds.size).toBeGreaterThan(to > from ? 8 : 1);
  });

  it('of code and data are those of the cells that account states show', async () => {
    const top: Answer[] = await askJson(sandbox, '/topAccountsByBalance?limit=200');
    const { accounts } = await askJson(sandbox, `/accountStates?address=${top.map((row) => row.account).join(',')}`);
    const shown = accounts.flatMap((row: Answer) => [
      [row.code_boc, row.code_hash],
      [row.data_boc, row.data_hash],
    ]);
    const known = shown.filter(([boc]: [string | null]) => typeof boc === 'string');
    expect(known.length).toBeGreaterThan(300);
    for (const [boc, hash] of known) expect(Cell.fromBase64(boc).hash().toString('base64')).toBe(hash);
  });

  it('find transactions and messages of the first epoch and of the newest', async () => {
    for (const seqno of [3, 5799]) {
      const { transactions: rows } = await askJson(sandbox, `/transactions?mc_seqno=${seqno}`);
      const row = rows.find((one: Answer) => one.in_msg?.hash_norm !== undefined) ?? rows[0];
      const found = await askJson(sandbox, `/transactions?hash=${encodeURIComponent(row.hash)}`);
      expect(found.transactions).toEqual([row]);
    }
  });

  it('are said to be none of cells where a chain is too long for them', async () => {
    expect((await ask(sandbox, '/masterchainInfo')).headers.get('x-hashes')).toBeNull();
    const long = await startSandbox({ blocks: 10_001 });
    try {
      expect((await ask(long, '/masterchainInfo')).headers.get('x-hashes')).toBe('made-up');
    } finally {
      await long.close();
    }
  });
});
