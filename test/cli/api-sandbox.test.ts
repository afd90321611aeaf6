import { afterAll, beforeAll, expect, test } from 'vitest';
import { cellOf, parseSent, type SentObject } from '../../src/api/client/exact-json.ts';
import { readResponse } from '../../src/api/client/read-response.ts';
import { rowsOf } from '../../src/api/client/response-rows.ts';
import { type EndpointName, endpointNames, endpointOf } from '../../src/api/endpoints.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { printFetch } from './print-answer.ts';

const BOC = 'te6cckEBAQEAAgAAAEysuc0=';
let sandbox: Sandbox;
/** One value of each kind of key, from the sandbox itself. */
let keys: Readonly<Record<string, string>>;

beforeAll(async () => {
  sandbox = await startSandbox({ blocks: 300 });
  const text = (row: SentObject | undefined, field: string): string => cellOf(row?.[field]) ?? '';
  const rows = (...words: readonly string[]) => fetchRows(words, sandbox.url);
  const many = (name: string, values: readonly string[]) => values.map((value) => `${name}=${value}`);
  const top = (await rows('topAccountsByBalance', 'limit=1000')).map((row) => text(row, 'account'));
  const states = await rows('walletStates', ...many('address', top));
  const wallets = states.filter((row) => row['is_wallet'] === true).map((row) => text(row, 'address'));
  const book = await rows('addressBook', ...many('address', wallets));
  const [message] = await rows('messages', 'limit=1', 'direction=out', 'exclude_externals=true');
  const [multisig] = await rows('multisig/wallets', ...many('wallet_address', wallets));
  const [vesting] = await rows('vesting', ...many('wallet_address', wallets));
  const sold = (await rows('nft/items', 'limit=1000')).map((row) => text(row, 'sale_contract_address'));
  keys = {
    account: wallets[0] ?? '',
    hash: text(message, 'out_msg_tx_hash'),
    message: text(message, 'hash'),
    named: text(
      book.find((row) => row['domain'] !== null),
      '_key',
    ),
    multisig: text(multisig, 'address'),
    vesting: text(vesting, 'address'),
    sale: sold.find((address) => address !== '') ?? '',
    jetton: text((await rows('jetton/masters', 'limit=1'))[0], 'address'),
    pending: await pendingAccount(),
  };
});
afterAll(() => sandbox.close());

/** An account with a message that is under way at the head. */
async function pendingAccount(): Promise<string> {
  const future = await startSandbox({ blocks: 320 });
  try {
    const later = await fetchRows(['transactions', 'limit=1000', 'sort=desc'], future.url);
    for (const account of new Set(later.map((row) => cellOf(row['account']) ?? ''))) {
      const foreseen = await fetchRows(['pendingTransactions', `account=${account}`], sandbox.url);
      if (foreseen.length > 0) return account;
    }
    throw new Error('nothing is pending');
  } finally {
    await future.close();
  }
}

async function fetchRows(words: readonly string[], url: string): Promise<readonly SentObject[]> {
  const path = words[0] ?? '';
  const name = endpointNames.find((one) => endpointOf(one).path === `/${path}`);
  if (name === undefined) throw new Error(path);
  const out = await printFetch(words, url);
  return rowsOf(endpointOf(name), parseSent(Buffer.from(out), path));
}

/** What each endpoint is asked, where it needs to be asked for something. */
const WORDS: Partial<Record<EndpointName, () => readonly string[]>> = {
  masterchainBlockShards: () => ['seqno=250'],
  masterchainBlockShardState: () => ['seqno=250'],
  transactionsByMasterchainBlock: () => ['seqno=250'],
  transactionsByMessage: () => [`msg_hash=${keys['message']}`],
  adjacentTransactions: () => [`hash=${keys['hash']}`],
  pendingTransactions: () => [`account=${keys['pending']}`],
  pendingActions: () => [`account=${keys['pending']}`],
  pendingTraces: () => [`account=${keys['pending']}`],
  traces: () => ['limit=5'],
  accountStates: () => [`address=${keys['account']}`],
  walletStates: () => [`address=${keys['account']}`],
  addressBook: () => [`address=${keys['account']}`],
  metadata: () => [`address=${keys['jetton']}`],
  addressInformation: () => [`address=${keys['account']}`],
  walletInformation: () => [`address=${keys['account']}`],
  dnsRecords: () => [`wallet=${keys['named']}`],
  multisigWallets: () => [`address=${keys['multisig']}`],
  multisigOrders: () => [`multisig_address=${keys['multisig']}`],
  vesting: () => [`contract_address=${keys['vesting']}`],
  nftSales: () => [`address=${keys['sale']}`],
  decode: () => ['opcodes=0x0f8a7ea5'],
  decodeByPost: () => ['opcodes=["0x0f8a7ea5"]', '--post'],
  estimateFee: () => [`address=${keys['account']}`, `body=${BOC}`],
  runGetMethod: () => [`address=${keys['account']}`, 'method=seqno', 'stack=[]'],
  sendMessageToNetwork: () => [`boc=${BOC}`, '--yes-send'],
};

test.each(endpointNames)('tonlake api calls %s and gets rows of the declared shape', async (name) => {
  const endpoint = endpointOf(name);
  const body = Buffer.from(
    await printFetch(
      [endpoint.path.slice(1), ...(WORDS[name]?.() ?? ['limit=3'].slice(0, 'limit' in endpoint.parameters ? 1 : 0))],
      sandbox.url,
    ),
  );
  expect(rowsOf(endpoint, parseSent(body, name)).length).toBeGreaterThan(0);
  readResponse(endpoint, { status: 200, body, request: name });
});

test('the program itself does, too', async () => {
  const { code, stdout, stderr } = await tonlake([
    'api',
    'jetton/masters',
    'limit=5',
    '--network',
    sandbox.url,
    '--format',
    'jsonl',
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toHaveLength(5);
});
