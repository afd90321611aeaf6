import { type Account, addressOf } from '../chain/accounts.ts';
import { EPOCH_BLOCKS, epochOf } from '../chain/clock.ts';
import { must } from '../chain/mix.ts';
import {
  type BlockRow,
  blockRefOf,
  includedBy,
  type MessageKey,
  masterchainSeqno,
  type TransactionRow,
} from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { demand } from './api-error.ts';
import { type By, type Listing, rows } from './list.ts';
import type { ParsedRequest } from './parsed-request.ts';
import type { View } from './view.ts';

/** Shared by the lists of blocks. */
const blockRow: Pick<Listing<BlockRow>, 'record' | 'at' | 'isBySecond'> = {
  record: (row, { view }) => view.blocks.record(row),
  at: (row, { view }) => [view.blocks.facts(row).startLt, view.blocks.facts(row).utime],
  isBySecond: true,
};

/** By time if the request has an order, else in no order. */
const byBlockTime = ({ view, sort }: ParsedRequest): readonly By<BlockRow>[] =>
  sort === undefined ? [] : [[(row) => view.blocks.facts(row).utime, sort]];

function blocksOf(view: View, seqno: number): readonly BlockRow[] {
  return view.isIndexed(seqno) ? view.chain.blocksOf(seqno) : [];
}

/** True if a slot can have transactions of some accounts; all slots can if there are none. */
function accountPlaces(view: View, addresses: readonly string[]): (slot: number) => boolean {
  if (addresses.length === 0) return () => true;
  const known = addresses.flatMap((address) => view.chain.accountOf(address) ?? []);
  const ordinary = new Set(known.map(({ account }) => account).filter(({ family }) => family === 0));
  const isRare = known.some(({ account }) => account.family > 0);
  const epochs = new Set(known.map(({ epoch }) => epoch));
  const places = new Set(
    view.chain.epoch.transactions.filter((one) => ordinary.has(one.account)).map(({ slot }) => slot),
  );
  return (slot) => {
    if (isRare && view.chain.isRare(slot)) return true;
    const epoch = epochOf(slot);
    return places.has(slot - epoch * EPOCH_BLOCKS) && (epochs.has(undefined) || epochs.has(epoch));
  };
}

const refuseDirection = (request: ParsedRequest): void => {
  demand(['in', 'out', undefined].includes(request.text('direction')), 'direction should be one of: in, out');
};

function addressOrNull(view: View, account: Account | undefined, epoch: number): string {
  return account === undefined ? 'null' : addressOf(account, epoch, view.chain.codec);
}

/** The indexed sides of a message in the requested direction. */
function sidesIn(view: View, row: MessageKey, direction: string | undefined) {
  const { sent, received } = view.sidesOf(row);
  return { inbound: direction === 'out' ? undefined : received, outbound: direction === 'in' ? undefined : sent };
}

function hasSide(view: View, row: MessageKey, direction: string | undefined): boolean {
  return Object.values(sidesIn(view, row, direction)).some((side) => side !== undefined);
}

/** Filters of message lists. */
const messageFields: NonNullable<Listing<MessageKey>['where']> = {
  opcode: ({ message }) => message.body.opcode ?? undefined,
  body_hash: ({ message, epoch }) => message.body.in(epoch).hash,
  source: ({ message, epoch }, { view }) => addressOrNull(view, message.source, epoch),
  destination: ({ message, epoch }, { view }) => addressOrNull(view, message.destination, epoch),
};

/** A message at one of its transactions. */
interface Passage extends MessageKey {
  readonly row: TransactionRow | undefined;
  readonly direction: 'in' | 'out';
}

/** Blocks, transactions and messages. */
export const chainLists = {
  'GET /blocks': rows<BlockRow>({
    ...blockRow,
    rows: (request) => {
      const { view } = request;
      const mcSeqno = request.number('mc_seqno');
      const named = (['root_hash', 'file_hash'] as const).flatMap((name) => {
        const kind = name === 'root_hash' ? HASH_KIND.blockRoot : HASH_KIND.blockFile;
        return request.list(name).map((hash) => view.chain.blockByHash(Buffer.from(hash, 'base64'), kind));
      });
      if (named.length === 0) return mcSeqno === undefined ? undefined : view.chain.blocksOf(mcSeqno);
      const [row] = named;
      const isOne = named.every(
        (other) => other !== undefined && other.plan === row?.plan && other.epoch === row.epoch,
      );
      return row !== undefined && isOne ? [row] : [];
    },
    inSlot: ({ view }, slot) => view.chain.blocksMadeIn(slot),
    where: {
      workchain: ({ plan }) => plan.name.workchain,
      shard: ({ plan }) => plan.name.shard,
      seqno: (row, { view }) => view.blocks.facts(row).seqno,
      mc_seqno: includedBy,
    },
    filter: (row, { view }) => view.isIndexed(includedBy(row)),
    order: byBlockTime,
  }),
  'GET /masterchainBlockShards': rows<BlockRow>({
    ...blockRow,
    rows: ({ view, number }) => blocksOf(view, number('seqno') ?? 0),
    order: byBlockTime,
    missing: 'blocks not found',
  }),
  'GET /masterchainBlockShardState': rows<BlockRow>({
    ...blockRow,
    rows: ({ view, number }) => {
      const seqno = number('seqno') ?? 0;
      return view.isIndexed(seqno) ? view.chain.stateOf(seqno) : [];
    },
    order: () => [
      [({ plan }) => plan.name.workchain, 1],
      [({ plan }) => BigInt.asIntN(64, BigInt(`0x${plan.name.shard}`)), 1],
    ],
    missing: 'blocks not found',
  }),
  /** By lt and account; by account if all have one lt, by hash if hashes are given. */
  'GET /transactions': rows<TransactionRow>({
    refuse: ({ view, number }) => view.requireTransactions(number('mc_seqno')),
    rows: ({ view, list, number }) => {
      const [hashes, mcSeqno] = [new Set(list('hash')), number('mc_seqno')];
      if (hashes.size > 0) return [...hashes].flatMap((hash) => view.transactionByHash(hash) ?? []);
      return mcSeqno === undefined ? undefined : view.chain.includedIn(mcSeqno);
    },
    inSlot: ({ view }, slot) => view.chain.madeIn(slot),
    isWanted: ({ view, list }) => accountPlaces(view, list('account')),
    where: {
      workchain: (row) => blockRefOf(row).workchain,
      shard: (row) => blockRefOf(row).shard,
      seqno: (row) => blockRefOf(row).seqno,
      mc_seqno: masterchainSeqno,
      account: ({ account }) => account,
      lt: ({ lt }) => lt,
    },
    at: ({ lt, now }) => [lt, now],
    filter: (row, { view }) => view.isVisible(row),
    order: (request, sort) => {
      if (request.has('hash')) return [[(row) => request.view.chain.transactionHash(row), sort]];
      return [
        [({ lt }) => lt, sort],
        [({ account }) => account, request.has('lt') ? sort : 1],
      ];
    },
    record: (row, request) => request.transaction(row),
  }),
  'GET /transactionsByMasterchainBlock': rows<TransactionRow>({
    refuse: ({ view, number }) => view.requireTransactions(number('seqno') ?? 0),
    rows: ({ view, number }) => view.chain.includedIn(number('seqno') ?? 0),
    order: (_, sort) => [
      [({ lt }) => lt, sort],
      [({ account }) => account, 1],
    ],
    record: (row, request) => request.transaction(row),
  }),
  /** By creation and hash; those without creation come first when descending and last when ascending. */
  'GET /messages': rows<MessageKey>({
    refuse: refuseDirection,
    rows: (request) => {
      const hashes = request.has('msg_hash') ? request.list('msg_hash') : request.list('hash');
      if (hashes.length === 0) return undefined;
      const rows = hashes.flatMap((hash) => request.view.messageByHash(hash) ?? []);
      return [...new Map(rows.map((row) => [request.view.chain.messageHash(row), row])).values()];
    },
    inSlot: ({ view, isOn }, slot) =>
      isOn('only_externals') ? [] : view.chain.createdIn(slot).filter(({ message }) => message.from !== undefined),
    slotsBefore: EPOCH_BLOCKS,
    timeless: (request) => {
      const { byLt, byTime } = request.bounds;
      const none = request.isOn('exclude_externals') || byLt || byTime || request.text('direction') === 'out';
      return none ? [] : request.view.inboundExternals();
    },
    where: messageFields,
    at: (row, { view }) => view.chain.created(row),
    filter: (row, { view, text }) => hasSide(view, row, text('direction')),
    order: ({ view }, sort) => [
      [(row) => view.chain.created(row)?.[0] ?? Number.MAX_SAFE_INTEGER, sort],
      [(row) => view.chain.messageHash(row), sort],
    ],
    record: (row, request) => {
      request.addAccountsOf(row);
      const { chain, records } = request.view;
      const { inbound, outbound } = sidesIn(request.view, row, request.text('direction'));
      return {
        ...records.message(row),
        in_msg_tx_hash: inbound && chain.transactionHash(inbound),
        out_msg_tx_hash: outbound && chain.transactionHash(outbound),
      };
    },
  }),
  /** A transaction once for each matching message; only its last copy has messages. */
  'GET /transactionsByMessage': rows<Passage>({
    refuse: (request) => {
      const isNamed = request.has('msg_hash', 'body_hash', 'opcode');
      demand(isNamed, 'at least one of msg_hash, body_hash, opcode should be specified');
      refuseDirection(request);
    },
    rows: ({ view, has, list }) => {
      if (!has('msg_hash')) return undefined;
      const found = list('msg_hash').flatMap((hash) => view.messageByHash(hash) ?? []);
      return found.flatMap((one): Passage[] => {
        const { sent, received } = view.sidesOf(one);
        return [
          { ...one, row: received, direction: 'in' },
          { ...one, row: sent, direction: 'out' },
        ];
      });
    },
    inSlot: ({ view }, slot) =>
      view.chain.madeIn(slot).flatMap((row) =>
        view.chain.messagesOf(row).map((one): Passage => {
          return { ...one, row, direction: one.message.to === row.transaction ? 'in' : 'out' };
        }),
      ),
    where: messageFields,
    filter: ({ row, direction }, { view, has, text }) => {
      const wanted = has('opcode') ? 'in' : text('direction');
      return row !== undefined && view.isVisible(row) && (wanted ?? direction) === direction;
    },
    order: (_, sort) => [
      [({ row }) => row?.lt ?? 0, sort],
      [({ row }) => row?.account ?? '', 1],
    ],
    record: ({ row }, request, later) => {
      const record = request.transaction(must(row, 'transaction of a message'));
      const isRepeated = later().some((other) => other.row?.account === row?.account && other.row?.lt === row?.lt);
      return isRepeated ? { ...record, in_msg: null, out_msgs: [] } : record;
    },
  }),
  /** The sender of the message that a transaction received, and the receivers of its messages. */
  'GET /adjacentTransactions': rows<TransactionRow>({
    rows: ({ view, text }) => {
      const [hash, direction] = [text('hash'), text('direction')];
      const row = hash === undefined ? undefined : view.transactionByHash(hash);
      if (row === undefined || !view.isVisible(row)) return [];
      const { template, transaction, epoch } = row;
      const { incoming, outgoing, cycle } = transaction;
      const senders = direction === 'out' ? [] : [incoming?.from];
      const receivers = direction === 'in' ? [] : outgoing.map(({ to }) => to);
      return [...senders, ...receivers].flatMap((other) => {
        return other === undefined ? [] : view.chain.row(template, other, epoch + other.cycle - cycle);
      });
    },
    filter: (row, { view }) => view.isVisible(row),
    order: () => [[({ lt }) => lt, 1]],
    record: (row, request) => request.transaction(row),
    missing: 'adjacent transactions not found',
  }),
};
