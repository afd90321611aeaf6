import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/api/client/client-types.ts';
import { createClient } from '../../src/api/client/open-api.ts';
import { type EndpointName, endpointNames, endpointOf } from '../../src/api/endpoints.ts';
import { DecodeError, SourceError, UsageError } from '../../src/core/errors.ts';
import { json, type LocalServer, open, rejection, serve, serveSteps } from '../http/server.ts';
import { fakeClock } from '../rate-limit/clock.ts';
import { ACCOUNT, FRIENDLY, HASH, HEX_HASH, OTHER, recordedAnswer } from './recorded.ts';

const A = encodeURIComponent(ACCOUNT);
const O = encodeURIComponent(OTHER);
const H = encodeURIComponent(HASH);
const BOC = 'te6cckEBAQEAAgAAAEysuc0=';

/** For each function a call, and the request line (and body) that it makes. */
const CALLS: { readonly [Name in EndpointName]: readonly [(client: Client) => Promise<unknown>, string, unknown?] } = {
  masterchainInfo: [(client) => client.masterchainInfo(), 'GET /masterchainInfo'],
  blocks: [
    (client) => client.blocks({ workchain: -1, shard: '8000000000000000', mc_seqno: 5, limit: 1000, sort: 'asc' }),
    'GET /blocks?workchain=-1&shard=8000000000000000&mc_seqno=5&limit=1000&sort=asc',
  ],
  masterchainBlockShards: [
    (client) => client.masterchainBlockShards({ seqno: 5, offset: 10 }),
    'GET /masterchainBlockShards?seqno=5&limit=100&offset=10',
  ],
  masterchainBlockShardState: [
    (client) => client.masterchainBlockShardState({ seqno: 5 }),
    'GET /masterchainBlockShardState?seqno=5',
  ],
  transactions: [
    (client) => client.transactions({ account: [ACCOUNT, OTHER], hash: HASH, start_lt: 18446744073709551615n }),
    `GET /transactions?account=${A}&account=${O}&hash=${H}&start_lt=18446744073709551615&limit=100`,
  ],
  transactionsByMasterchainBlock: [
    (client) => client.transactionsByMasterchainBlock({ seqno: 7, limit: 1, x_no_address_book: true }),
    'GET /transactionsByMasterchainBlock?seqno=7&limit=1&x_no_address_book=true',
  ],
  transactionsByMessage: [
    (client) => client.transactionsByMessage({ opcode: -1, direction: 'in' }),
    'GET /transactionsByMessage?opcode=0xffffffff&direction=in&limit=100',
  ],
  adjacentTransactions: [
    (client) => client.adjacentTransactions({ hash: HEX_HASH, direction: 'out' }),
    `GET /adjacentTransactions?hash=${HEX_HASH}&direction=out`,
  ],
  messages: [
    (client) => client.messages({ source: null, destination: FRIENDLY, opcode: 0xf8a7ea5, exclude_externals: false }),
    `GET /messages?source=null&destination=${FRIENDLY}&opcode=0x0f8a7ea5&exclude_externals=false&limit=100`,
  ],
  pendingTransactions: [
    (client) => client.pendingTransactions({ account: ACCOUNT }),
    `GET /pendingTransactions?account=${A}`,
  ],
  actions: [
    (client) => client.actions({ mc_seqno: 5, supported_action_types: ['v1', 'tgbtc'], x_no_metadata: true }),
    'GET /actions?mc_seqno=5&supported_action_types=v1&supported_action_types=tgbtc&limit=100&x_no_metadata=true',
  ],
  traces: [
    (client) => client.traces({ start_utime: 1777600100, end_utime: 1777600200, include_actions: true }),
    'GET /traces?start_utime=1777600100&end_utime=1777600200&include_actions=true&limit=100',
  ],
  pendingActions: [(client) => client.pendingActions({ ext_msg_hash: HASH }), `GET /pendingActions?ext_msg_hash=${H}`],
  pendingTraces: [(client) => client.pendingTraces({ account: OTHER }), `GET /pendingTraces?account=${O}`],
  accountStates: [
    (client) => client.accountStates({ address: [ACCOUNT, FRIENDLY], include_boc: false }),
    `GET /accountStates?address=${A}&address=${FRIENDLY}&include_boc=false`,
  ],
  walletStates: [(client) => client.walletStates({ address: ACCOUNT }), `GET /walletStates?address=${A}`],
  addressBook: [(client) => client.addressBook({ address: ['any text'] }), 'GET /addressBook?address=any%20text'],
  metadata: [(client) => client.metadata({ address: ACCOUNT }), `GET /metadata?address=${A}`],
  topAccountsByBalance: [(client) => client.topAccountsByBalance({ limit: 3 }), 'GET /topAccountsByBalance?limit=3'],
  addressInformation: [
    (client) => client.addressInformation({ address: ACCOUNT, use_v2: false }),
    `GET /addressInformation?address=${A}&use_v2=false`,
  ],
  walletInformation: [
    (client) => client.walletInformation({ address: ACCOUNT }),
    `GET /walletInformation?address=${A}`,
  ],
  dnsRecords: [(client) => client.dnsRecords({ domain: 'a.ton' }), 'GET /dns/records?domain=a.ton&limit=100'],
  multisigWallets: [
    (client) => client.multisigWallets({ wallet_address: ACCOUNT }),
    `GET /multisig/wallets?wallet_address=${A}&limit=100`,
  ],
  multisigOrders: [
    (client) => client.multisigOrders({ multisig_address: ACCOUNT, parse_actions: true }),
    `GET /multisig/orders?multisig_address=${A}&parse_actions=true&limit=100`,
  ],
  vesting: [
    (client) => client.vesting({ wallet_address: ACCOUNT, check_whitelist: true }),
    `GET /vesting?wallet_address=${A}&check_whitelist=true&limit=100`,
  ],
  jettonMasters: [(client) => client.jettonMasters({ limit: 5 }), 'GET /jetton/masters?limit=5'],
  jettonWallets: [
    (client) => client.jettonWallets({ owner_address: ACCOUNT, jetton_address: [ACCOUNT, OTHER] }),
    `GET /jetton/wallets?owner_address=${A}&jetton_address=${A}&jetton_address=${O}&limit=100`,
  ],
  jettonTransfers: [
    (client) => client.jettonTransfers({ owner_address: ACCOUNT, direction: 'out', start_lt: '7', end_lt: 9 }),
    `GET /jetton/transfers?owner_address=${A}&direction=out&start_lt=7&end_lt=9&limit=100`,
  ],
  jettonBurns: [
    (client) => client.jettonBurns({ jetton_master: ACCOUNT, sort: 'desc' }),
    `GET /jetton/burns?jetton_master=${A}&limit=100&sort=desc`,
  ],
  nftCollections: [
    (client) => client.nftCollections({ owner_address: ACCOUNT }),
    `GET /nft/collections?owner_address=${A}&limit=100`,
  ],
  nftItems: [
    (client) => client.nftItems({ collection_address: ACCOUNT, index: [2n ** 256n - 1n, 0] }),
    `GET /nft/items?collection_address=${A}&index=${2n ** 256n - 1n}&index=0&limit=100`,
  ],
  nftTransfers: [
    (client) => client.nftTransfers({ item_address: [ACCOUNT] }),
    `GET /nft/transfers?item_address=${A}&limit=100`,
  ],
  nftSales: [(client) => client.nftSales({ address: ACCOUNT }), `GET /nft/sales?address=${A}`],
  decode: [
    (client) => client.decode({ opcodes: [1, '0xF8A7EA5'], bodies: BOC }),
    `GET /decode?opcodes=0x00000001&opcodes=0xF8A7EA5&bodies=${encodeURIComponent(BOC)}`,
  ],
  decodeByPost: [
    (client) => client.decodeByPost({ opcodes: 1, bodies: [BOC] }),
    'POST /decode',
    { opcodes: ['0x00000001'], bodies: [BOC] },
  ],
  estimateFee: [
    (client) => client.estimateFee({ address: ACCOUNT, body: BOC, ignore_chksig: true }),
    'POST /estimateFee',
    { address: ACCOUNT, body: BOC, ignore_chksig: true },
  ],
  runGetMethod: [
    (client) => client.runGetMethod({ address: ACCOUNT, method: 'get', stack: [{ type: 'num', value: '0x1f' }] }),
    'POST /runGetMethod',
    { address: ACCOUNT, method: 'get', stack: [{ type: 'num', value: '0x1f' }] },
  ],
  sendMessageToNetwork: [(client) => client.sendMessageToNetwork({ boc: BOC }), 'POST /message', { boc: BOC }],
};

describe('each function', () => {
  test.each(endpointNames)('%s makes its request and reads the recorded answer', async (name) => {
    const [call, line, body] = CALLS[name];
    const { server, client, bodies } = await listen(recordedAnswer(endpointOf(name)));
    const answer = await call(client);
    expect(server.requests).toEqual([line.replace(' /', ' /api/v3/')]);
    expect(bodies).toEqual([body === undefined ? '' : JSON.stringify(body)]);
    expect(Object.keys(Object(answer))).not.toHaveLength(0);
  });
});

describe('a call', () => {
  test('that cannot be is refused without a request', async () => {
    const { server, client } = await listen('{}');
    const misspelt: object = { mc_seqn: 5 };
    expect(await rejection(client.blocks(misspelt))).toBeInstanceOf(UsageError);
    expect(server.requests).toEqual([]);
  });

  test('ends with its signal', async () => {
    const { client } = await listen('{}');
    const reason = new Error('enough');
    expect(await rejection(client.masterchainInfo({}, { signal: AbortSignal.abort(reason) }))).toBe(reason);
  });

  test('to send a message is made once, whatever comes back', async () => {
    const server = await serveSteps(json(503, { error: 'down' }));
    const client = createClient(open(server.baseUrl));
    expect(await rejection(client.sendMessageToNetwork({ boc: BOC }))).toBeInstanceOf(SourceError);
    expect(server.requests).toHaveLength(1);
  });

  test('for a block that is not indexed waits for it', async () => {
    const server = await serveSteps(json(404, { error: 'blocks not found' }), json(200, { blocks: [] }));
    const client = createClient(open(server.baseUrl, { effects: fakeClock() }));
    expect(await client.masterchainBlockShards({ seqno: 9 })).toEqual({ blocks: [] });
    expect(server.requests).toHaveLength(2);
  });
});

describe('an answer', () => {
  test('of 404 that means no rows is an empty list', async () => {
    const server = await serveSteps(json(404, { error: 'emulated traces not found' }));
    const client = createClient(open(server.baseUrl));
    expect(await client.pendingTransactions({ account: ACCOUNT })).toEqual({ transactions: [], address_book: {} });
  });

  test('with null for rows or maps has empty ones', async () => {
    const { client } = await listen('{"traces":null,"address_book":null}');
    expect(await client.pendingTraces({ account: ACCOUNT })).toEqual({ traces: [], address_book: {}, metadata: {} });
    const { client: book } = await listen('null');
    expect(await book.metadata({ address: ACCOUNT })).toEqual({});
  });

  test('keeps every digit, and gives 64-bit integers as bigint whatever their size', async () => {
    const fee = '{"in_fwd_fee":18446744073709551615,"storage_fee":1,"gas_fee":9007199254740993,"fwd_fee":0}';
    const { client } = await listen(`{"source_fees":${fee},"destination_fees":[${fee}]}`);
    const fees = { in_fwd_fee: 18446744073709551615n, storage_fee: 1n, gas_fee: 9007199254740993n, fwd_fee: 0n };
    expect(await client.estimateFee({ address: ACCOUNT })).toEqual({ source_fees: fees, destination_fees: [fees] });
  });

  test('keeps every digit of what the details of an action hold', async () => {
    const { client } = await listen(
      '{"actions":[{"type":"layerzero_send","details":{"layerzero_send_data":{"send_request_id":18446744073709551615,' +
        '"native_fee":5,"msglib":"x"},"layerzero_packet_data":{"nonce":7,"src_eid":30343}}}]}',
    );
    const { actions } = await client.actions();
    expect(actions[0]?.details).toEqual({
      layerzero_send_data: { send_request_id: 18446744073709551615n, native_fee: 5n, msglib: 'x' },
      layerzero_packet_data: { nonce: 7n, src_eid: 30343 },
    });
  });

  test('may hold raw control characters, `__proto__`, and fields that nobody knows', async () => {
    const { client } = await listen('[{"account":"a\u0013\n\\u0001b","__proto__":{"x":1},"new":12345678901234567890}]');
    const [row] = await client.topAccountsByBalance();
    expect(row?.account).toBe('a\u0013\n\u0001b');
    expect(Object.keys(row ?? {})).toEqual(['account', '__proto__', 'new']);
    expect(row).toHaveProperty('new', 12345678901234567890n);
  });

  test.each([
    ['{"blocks":[', 'decode blocks: expected JSON, got '],
    ['[]', 'decode blocks: expected an object, got something else'],
    ['{}', 'decode blocks: expected an object with blocks, got something else'],
    ['{"blocks":{}}', 'decode blocks: expected a list of rows, got something else'],
  ])('%s is asked again, and then an error', async (body, says) => {
    const { server, client } = await listen(body);
    const error = await rejection(client.blocks());
    expect(error).toBeInstanceOf(DecodeError);
    expect(String(error)).toContain(says);
    expect(server.requests.length).toBeGreaterThan(1);
  });
});

async function listen(
  answer: string,
): Promise<{ readonly server: LocalServer; readonly client: Client; readonly bodies: string[] }> {
  const bodies: string[] = [];
  const server = await serve((request, response) => {
    readBody(request).then((body) => {
      bodies.push(body);
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    });
  });
  return { server, client: createClient(open(server.baseUrl)), bodies };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
