import {
  Address,
  beginCell,
  Cell,
  type Message as CoreMessage,
  Dictionary,
  type DictionaryValue,
  ExternalAddress,
  loadMessage,
  storeMessage,
  storeSplitMergeInfo,
  storeTransaction,
  storeTransactionsStoragePhase,
  type TransactionDescription,
} from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from './genuine.ts';
import { statesOf, unnoticed } from './sweep.ts';

const bytesOf = (id: bigint): Buffer => Buffer.from(id.toString(16).padStart(64, '0'), 'hex');
const hash = (id: bigint): string => bytesOf(id).toString('base64');
const coins = fc.bigInt({ min: 0n, max: 2n ** 62n });
const id = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const small = fc.nat({ max: 60 });
/** Amounts by currency id. */
const currencies = fc.dictionary(
  fc.integer({ min: 0, max: 2 ** 32 - 1 }).map(String),
  fc.bigInt({ min: 1n, max: 2n ** 248n - 1n }),
  { maxKeys: 40, noNullPrototype: true },
);

type Amounts = Readonly<Record<string, bigint>>;
const wire = (amounts: Amounts): Json =>
  Object.fromEntries(Object.entries(amounts).map(([key, value]) => [key, String(value)]));

function collection(value: bigint, amounts: Amounts) {
  const other = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.BigVarUint(5));
  for (const [key, amount] of Object.entries(amounts)) other.set(Number(key), amount);
  return { coins: value, other };
}

const seeds = fc.record({
  ...{
    account: id,
    lt: fc.bigInt({ min: 1n, max: 2n ** 60n }),
    prev: id,
    prevLt: fc.bigInt({ min: 0n, max: 2n ** 60n }),
  },
  ...{
    now: fc.nat({ max: 2 ** 31 - 1 }),
    fees: coins,
    before: id,
    after: id,
    sibling: id,
    prefix: small,
    depth: small,
  },
  ...{ collected: coins, due: fc.option(coins), aborted: fc.boolean(), destroyed: fc.boolean(), value: coins },
  ...{
    change: fc.constantFrom('unchanged' as const, 'frozen' as const, 'deleted' as const),
    extra: currencies,
    paid: currencies,
    flags: fc.bigInt({ min: 0n, max: 2n ** 120n - 1n }),
  },
});
type Seed = ReturnType<typeof seeds.generate>['value'];

/** A transaction as the API sends it, and its cell, which @ton/core wrote. */
interface Made {
  readonly sent: Json;
  readonly cell: Cell;
}

interface Message {
  readonly json: Json;
  readonly core: CoreMessage;
}

const inCells: DictionaryValue<CoreMessage> = {
  serialize: (message, builder) => builder.storeRef(beginCell().store(storeMessage(message))),
  parse: (slice) => loadMessage(slice.loadRef().beginParse()),
};

/** @param written its cell, if @ton/core cannot write the description */
function made(
  seed: Seed,
  { json, core, written }: { readonly json: Json; readonly core: TransactionDescription; readonly written?: Cell },
  { received, sent: out = [] }: { readonly received?: Message; readonly sent?: readonly Message[] } = {},
): Made {
  const outMessages = Dictionary.empty(Dictionary.Keys.Uint(15), inCells);
  for (const [index, message] of out.entries()) outMessages.set(index, message.core);
  const known = {
    ...{ address: seed.account, lt: seed.lt, prevTransactionHash: seed.prev, prevTransactionLt: seed.prevLt },
    ...({ now: seed.now, outMessagesCount: out.length, oldStatus: 'active', endStatus: 'active' } as const),
    ...{ inMessage: received?.core, outMessages, totalFees: collection(seed.fees, seed.paid), description: core },
    stateUpdate: { oldHash: bytesOf(seed.before), newHash: bytesOf(seed.after) },
  };
  const whole = beginCell()
    .store(storeTransaction({ ...known, raw: Cell.EMPTY, hash: () => Buffer.alloc(0) }))
    .endCell();
  const refs = written === undefined ? whole.refs : [...whole.refs.slice(0, -1), written];
  const cell = new Cell({ bits: whole.bits, refs });
  const sent = {
    ...{ account: rawOf(seed.account), hash: cell.hash().toString('base64'), lt: String(seed.lt), now: seed.now },
    ...{ mc_block_seqno: 1, trace_id: null, prev_trans_hash: hash(seed.prev), prev_trans_lt: String(seed.prevLt) },
    ...{ orig_status: 'active', end_status: 'active', total_fees: String(seed.fees) },
    ...{ total_fees_extra_currencies: wire(seed.paid), description: json, in_msg: received?.json ?? null },
    out_msgs: out.map((message) => message.json),
    block_ref: { workchain: 0, shard: '8000000000000000', seqno: 1 },
    account_state_before: { hash: hash(seed.before) },
    account_state_after: { hash: hash(seed.after) },
  };
  return { sent, cell };
}

function rawOf(account: bigint): string {
  return `0:${account.toString(16).toUpperCase().padStart(64, '0')}`;
}

function storageOf({ collected, due, change }: Seed) {
  return {
    json: {
      ...{ storage_fees_collected: String(collected), status_change: change },
      ...(due === null ? {} : { storage_fees_due: String(due) }),
    },
    phase: { storageFeesCollected: collected, storageFeesDue: due, statusChange: change },
  };
}

function splitOf({ prefix, depth, account, sibling }: Seed) {
  return {
    json: {
      ...{ cur_shard_pfx_len: prefix, acc_split_depth: depth },
      ...{ this_addr: hash(account), sibling_addr: hash(sibling) },
    },
    info: { currentShardPrefixLength: prefix, accountSplitDepth: depth, thisAddress: account, siblingAddress: sibling },
  };
}

interface Sent {
  readonly from: bigint;
  readonly to: bigint;
  readonly lt: bigint;
  readonly value: bigint;
  readonly extra?: Amounts;
  /** The message has this fee in place of flags, as before version 12 of the network. */
  readonly ihrFee?: bigint;
  /** It begins with 32 bits, 7. */
  readonly body?: Cell;
}

const SHORT = beginCell().storeUint(7, 32).endCell();

/** An internal message. */
function internal({ now, flags }: Seed, { from, to, lt, value, extra = {}, ihrFee, body = SHORT }: Sent): Message {
  const [source, destination] = [rawOf(from), rawOf(to)];
  const info = {
    ...({ type: 'internal', ihrDisabled: ihrFee === undefined, bounce: false, bounced: false } as const),
    ...{
      src: Address.parse(source),
      dest: Address.parse(destination),
      value: collection(value, extra),
      ihrFee: ihrFee ?? flags,
      forwardFee: 1n,
    },
    ...{ createdLt: lt, createdAt: now },
  };
  const core = { info, body };
  const cell = beginCell().store(storeMessage(core)).endCell();
  const json = {
    ...{ hash: cell.hash().toString('base64'), source, destination, value: String(value) },
    ...{ value_extra_currencies: wire(extra), fwd_fee: '1', ihr_fee: String(ihrFee ?? 0n), created_lt: String(lt) },
    ...{ extra_flags: ihrFee === undefined ? String(flags) : null, created_at: String(now), opcode: '0x00000007' },
    ...{ ihr_disabled: ihrFee === undefined, bounce: false, bounced: false, import_fee: null, init_state: null },
    message_content: { hash: body.hash().toString('base64'), body: body.toBoc().toString('base64'), decoded: null },
  };
  return { json, core };
}

/** A message to an address outside of TON, which the API does not give. */
function outside({ account, now }: Seed, lt: bigint): Message {
  const body = beginCell().storeUint(7, 32).endCell();
  const source = rawOf(account);
  const dest = new ExternalAddress(lt, 64);
  const info = { type: 'external-out', src: Address.parse(source), dest, createdLt: lt, createdAt: now } as const;
  const core = { info, body };
  const cell = beginCell().store(storeMessage(core)).endCell();
  const json = {
    ...{ hash: cell.hash().toString('base64'), source, destination: null, value: null, fwd_fee: null, ihr_fee: null },
    ...{ created_lt: String(lt), created_at: String(now), opcode: '0x00000007', ihr_disabled: null, bounce: null },
    ...{ bounced: null, import_fee: null, init_state: null },
    message_content: { hash: body.hash().toString('base64'), body: body.toBoc().toString('base64'), decoded: null },
  };
  return { json, core };
}

const skipped = { skipped: true, reason: 'no_gas' };

/** An ordinary transaction whose compute phase was skipped. */
function withoutCompute(seed: Seed, messages: Parameters<typeof made>[2]): Made {
  const { aborted, destroyed } = seed;
  const computePhase = { type: 'skipped', reason: 'no-gas' } as const;
  const core = { type: 'generic', creditFirst: true, computePhase, aborted, destroyed } as const;
  const json = { type: 'ord', aborted, destroyed, credit_first: true, compute_ph: skipped };
  return made(seed, { json, core }, messages);
}

const KINDS: Readonly<Record<string, (seed: Seed) => Made>> = {
  storage: (seed) => {
    const { json, phase } = storageOf(seed);
    return made(seed, { json: { type: 'storage', storage_ph: json }, core: { type: 'storage', storagePhase: phase } });
  },
  split_prepare: (seed) => {
    const { aborted, destroyed } = seed;
    const [storage, split] = [storageOf(seed), splitOf(seed)];
    const computePhase = { type: 'skipped', reason: 'no-gas' } as const;
    const written = { storagePhase: storage.phase, splitInfo: split.info, computePhase, aborted, destroyed };
    const json = { type: 'split_prepare', storage_ph: storage.json, split_info: split.json, compute_ph: skipped };
    return made(seed, { json: { ...json, aborted, destroyed }, core: { type: 'split-prepare', ...written } });
  },
  // @ton/core cannot write it as a whole.
  merge_prepare: (seed) => {
    const { aborted } = seed;
    const [storage, split] = [storageOf(seed), splitOf(seed)];
    const written = beginCell()
      .storeUint(6, 4)
      .store(storeSplitMergeInfo(split.info))
      .store(storeTransactionsStoragePhase(storage.phase))
      .storeBit(aborted)
      .endCell();
    const json = { type: 'merge_prepare', storage_ph: storage.json, split_info: split.json, aborted };
    return made(seed, { json, core: { type: 'storage', storagePhase: storage.phase }, written });
  },
  'an ordinary one with extra currencies': (seed) => {
    const { aborted, destroyed, value, extra, lt, account } = seed;
    const credited = collection(value, extra);
    const computePhase = { type: 'skipped', reason: 'no-gas' } as const;
    const core = {
      ...({ type: 'generic', creditFirst: true, creditPhase: { credit: credited }, computePhase } as const),
      ...{ aborted, destroyed },
    };
    const json = {
      ...{ type: 'ord', aborted, destroyed, credit_first: true, compute_ph: skipped },
      credit_ph: { credit: String(value), credit_extra_currencies: wire(extra) },
    };
    const received = internal(seed, { from: seed.sibling, to: account, lt: lt - 1n, value, extra });
    return made(seed, { json, core }, { received });
  },
};

/** Fields that nothing proves. */
const UNCOVERED = /^\/(block_ref\/.*|mc_block_seqno)$/;

describe('a transaction of a kind that is rare on chain', () => {
  it.each(Object.entries(KINDS))('%s has the hash that @ton/core computes, and no changed field passes', (_, make) => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { sent } = make(seed);
        expect(statesOf([sent])).toEqual(['agrees 0 0']);
      }),
      { numRuns: 50 },
    );
    for (const seed of fc.sample(seeds, { numRuns: 4, seed: 7 })) {
      const { paths, changes } = unnoticed(make(seed).sent);
      expect(changes).toBeGreaterThan(15);
      expect(paths.filter((path) => !UNCOVERED.test(path))).toEqual([]);
    }
  });

  it('may receive a message and send 255', () => {
    for (const seed of fc.sample(seeds, { numRuns: 2, seed: 7 })) {
      const { account, sibling, lt, value } = seed;
      const of = (from: bigint, to: bigint, at: bigint) => internal(seed, { from, to, lt: at, value });
      const sent = Array.from({ length: 256 }, (_, index) => of(account, sibling, lt + 1n + BigInt(index)));
      const received = of(sibling, account, lt - 1n);
      const stateOf = (count: number) =>
        statesOf([withoutCompute(seed, { received, sent: sent.slice(0, count) }).sent]);
      expect(stateOf(255)).toEqual(['agrees 0 0']);
      expect(stateOf(256)).toEqual(['many-messages 0 0']);
    }
  });

  it('may have a Merkle proof in the body of a message, and its root has no pruned branches outside of it', () => {
    const dictionary = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.Uint(64));
    for (let key = 0; key < 20; key++) dictionary.set(key, key);
    const proof = dictionary.generateMerkleProof([3, 5]);
    for (const seed of fc.sample(seeds, { numRuns: 5, seed: 7 })) {
      const { account, sibling, lt, value } = seed;
      const stateOf = (below: Cell) => {
        const body = beginCell().storeUint(7, 32).storeRef(below).endCell();
        const received = internal(seed, { from: sibling, to: account, lt: lt - 1n, value, body });
        return withoutCompute(seed, { received }).sent;
      };
      expect(statesOf([stateOf(proof)])).toEqual(['agrees 0 0']);
      expect(statesOf([stateOf(beginCell().storeRef(proof).endCell())])).toEqual(['agrees 0 0']);
      expect(statesOf([stateOf(proof.refs[0] as Cell)])).toEqual(['contradicted 0 0']);
    }
  });

  it('is tried in at most 60 combinations if the source does not give all of its messages', () => {
    for (const seed of fc.sample(seeds, { numRuns: 2, seed: 7 })) {
      const sent = Array.from({ length: 255 }, (_, index) => outside(seed, seed.lt + 1n + BigInt(index)));
      const of = (count: number): Json => withoutCompute(seed, { sent: sent.slice(0, count) }).sent;
      const altered = (count: number): Json => ({ ...of(count), total_fees: String(seed.fees + 1n) });
      expect(statesOf([of(5), of(255)])).toEqual(['agrees 5 0', 'agrees 255 0']);
      expect(statesOf([altered(5), altered(6), altered(255)])).toEqual([
        ...['contradicted 5 0', 'many-unknown-messages 6 0', 'many-unknown-messages 255 0'],
      ]);
    }
  });
});

describe('the balance of an account', () => {
  /** A transaction that received a message, with the balances of its account. */
  const balanced = (
    seed: Seed,
    { value, ihrFee, credit, due, before, after }: Readonly<Record<string, bigint | undefined>>,
  ): string | undefined => {
    const { account, sibling, lt, aborted, destroyed } = { ...seed, destroyed: false };
    const received = internal(seed, {
      from: sibling,
      to: account,
      lt: lt - 1n,
      value: value ?? 0n,
      ...(ihrFee === undefined ? {} : { ihrFee }),
    });
    const computePhase = { type: 'skipped', reason: 'no-gas' } as const;
    const creditPhase = { dueFeesColelcted: due ?? null, credit: collection(credit ?? 0n, {}) };
    const core = { type: 'generic', creditFirst: true, creditPhase, computePhase, aborted, destroyed } as const;
    const json = {
      ...{ type: 'ord', aborted, destroyed, credit_first: true, compute_ph: skipped },
      credit_ph: { credit: String(credit ?? 0n), ...(due === undefined ? {} : { due_fees_collected: String(due) }) },
    };
    const { sent } = made({ ...seed, fees: 10n, paid: {} }, { json, core }, { received });
    const state = (name: string, balance: bigint | undefined): Json => ({
      [`account_state_${name}`]: {
        ...(sent[`account_state_${name}`] as Json),
        balance: String(balance),
        account_status: 'active',
      },
    });
    return statesOf([{ ...sent, ...state('before', before), ...state('after', after) }])[0];
  };
  const [seed] = fc.sample(seeds, { numRuns: 1, seed: 7 }) as [Seed];
  const agrees = 'agrees 0 0';
  const contradicted = 'contradicted 0 0';

  it('grows by what it received, minus fees', () => {
    expect(balanced(seed, { value: 1_000n, credit: 1_000n, before: 5_000n, after: 5_990n })).toBe(agrees);
    expect(balanced(seed, { value: 1_000n, credit: 1_000n, before: 5_000n, after: 5_991n })).toBe(contradicted);
    expect(balanced(seed, { value: 1_000n, credit: 996n, due: 4n, before: 5_000n, after: 5_990n })).toBe(agrees);
  });

  it('grows by the fee of a delivery that did not take place', () => {
    const of = { value: 1_000n, ihrFee: 300n, credit: 1_300n, before: 5_000n };
    expect(balanced(seed, { ...of, after: 6_290n })).toBe(agrees);
    expect(balanced(seed, { ...of, after: 5_990n })).toBe(contradicted);
  });

  it('grows by what was credited if the account burns what it receives, as the blackhole of the masterchain does', () => {
    expect(balanced(seed, { value: 1_000n, credit: 0n, before: 5_000n, after: 4_990n })).toBe(agrees);
    expect(balanced(seed, { value: 1_000n, credit: 0n, due: 4n, before: 5_000n, after: 4_994n })).toBe(agrees);
    expect(balanced(seed, { value: 1_000n, credit: 0n, before: 5_000n, after: 5_000n })).toBe(contradicted);
  });
});
