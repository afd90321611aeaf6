import { describe, expect, test } from 'vitest';
import { type Given, planRequest } from '../../src/api/client/build-request.ts';
import { type EndpointName, endpointOf } from '../../src/api/endpoints.ts';
import { formatError, UsageError } from '../../src/core/errors.ts';
import { ACCOUNT, FRIENDLY, HASH, HEX_HASH, OTHER } from './recorded.ts';

const plan = (name: EndpointName, given: Given): unknown => planRequest(endpointOf(name), given).query;

function refusal(name: EndpointName, given: Given): string {
  try {
    planRequest(endpointOf(name), given);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return formatError(error);
  }
  throw new Error(`expected a refusal of ${JSON.stringify(given)}`);
}

describe('a request', () => {
  test('sends parameters in the order of the description, and lists by repeating their name', () => {
    expect(plan('transactions', { limit: 7, hash: [HASH, HEX_HASH], account: ACCOUNT })).toEqual([
      ['account', ACCOUNT],
      ['hash', HASH],
      ['hash', HEX_HASH],
      ['limit', '7'],
    ]);
  });

  test('always says how long a page is', () => {
    expect(plan('transactions', {})).toEqual([['limit', '100']]);
    expect(plan('accountStates', { address: ACCOUNT })).toEqual([['address', ACCOUNT]]);
  });

  test('takes undefined for absent', () => {
    expect(plan('jettonMasters', { address: undefined, limit: 1 })).toEqual([['limit', '1']]);
  });

  test('says what a 404 means', () => {
    expect(planRequest(endpointOf('transactions'), {}).missing).toBe('wait');
    expect(planRequest(endpointOf('pendingTransactions'), { account: ACCOUNT }).missing).toBe('answer');
    expect(planRequest(endpointOf('blocks'), {}).missing).toBeUndefined();
  });
});

describe('a parameter that the server would ignore is refused', () => {
  test('when it is misspelt, with the nearest right one', () => {
    expect(refusal('blocks', { mc_seqn: 5 })).toMatch(
      /^usage blocks: expected a parameter, got "mc_seqn"; hint: did you mean mc_seqno\?$/,
    );
    expect(refusal('masterchainInfo', { limit: 5 })).toBe(
      'usage masterchainInfo: expected a parameter, got "limit"; hint: masterchainInfo takes no parameters',
    );
    expect(refusal('blocks', { toString: 1 })).toContain('expected a parameter');
    expect(refusal('pendingTransactions', { account: ACCOUNT, x_no_address_book: true })).toContain('a parameter');
  });

  test('when it does nothing', () => {
    expect(refusal('transactions', { exclude_account: ACCOUNT })).toContain('expected no exclude_account');
    expect(refusal('pendingTransactions', { account: ACCOUNT, trace_id: HASH })).toContain('expected no trace_id');
  });
});

describe('a value is refused', () => {
  const cases: readonly (readonly [EndpointName, Given, string])[] = [
    ['blocks', { mc_seqno: 1.5 }, 'a 32-bit integer for mc_seqno, got 1.5'],
    ['blocks', { mc_seqno: 'five' }, 'a 32-bit integer for mc_seqno, got "five"'],
    ['blocks', { mc_seqno: '' }, 'a 32-bit integer for mc_seqno, got ""'],
    ['blocks', { mc_seqno: null }, 'a 32-bit integer for mc_seqno, got null'],
    ['blocks', { mc_seqno: 2 ** 31 }, 'a 32-bit integer for mc_seqno, got 2147483648'],
    ['blocks', { mc_seqno: [5, 6] }, 'one value for mc_seqno, got a list of 2'],
    ['blocks', { limit: 1001 }, 'a 32-bit integer from 1 to 1000 for limit, got 1001'],
    ['blocks', { limit: 0 }, 'a 32-bit integer from 1 to 1000 for limit, got 0'],
    ['blocks', { offset: -1 }, 'a 32-bit integer from 0 to 2147483647 for offset, got -1'],
    ['blocks', { sort: 'up' }, 'asc or desc for sort, got "up"'],
    ['blocks', { shard: 'xyz' }, 'for shard, got "xyz"'],
    ['blocks', { shard: 2n ** 64n }, 'for shard, got 18446744073709551616n'],
    ['blocks', { start_lt: 2 ** 53 }, 'an unsigned 64-bit integer for start_lt, got 9007199254740992'],
    ['blocks', { start_lt: 2n ** 64n }, 'for start_lt, got 18446744073709551616n'],
    ['blocks', { start_utime: 2 ** 32 }, 'for start_utime, got 4294967296'],
    ['blocks', { root_hash: HASH.slice(0, 43) }, 'a hash: 64 hex digits or 44 characters of base64 for root_hash, got'],
    ['messages', { opcode: '10' }, 'an opcode: 0x and up to 8 hex digits, or a negative decimal for opcode, got "10"'],
    ['messages', { opcode: 2 ** 32 }, 'for opcode, got 4294967296'],
    ['messages', { source: 'nul' }, 'or null for source, got "nul"'],
    ['transactions', { account: [] }, 'at least one value for account, got an empty list'],
    ['transactions', { account: [ACCOUNT, ''] }, 'an address: raw (0:ABC...)'],
    ['transactions', { account: `${ACCOUNT},${OTHER}` }, 'an address: raw (0:ABC...)'],
    ['transactions', { account: `128:${'0'.repeat(64)}` }, 'an address'],
    ['transactions', { account: FRIENDLY.replace('EQBi', 'EQBj') }, 'an address'],
    ['actions', { action_type: '$$' }, 'letters, digits, _ and . for action_type, got "$$"'],
    ['actions', { include_accounts: 'yes' }, 'true or false for include_accounts, got "yes"'],
    ['nftItems', { collection_address: ACCOUNT, index: -1 }, 'a non-negative integer of any size for index, got -1'],
    ['dnsRecords', { domain: ' ' }, 'text for domain, got " "'],
    ['decode', { bodies: 'te6' }, 'a bag of cells in base64 or hex for bodies, got "te6"'],
    ['nftSales', { address: Array.from({ length: 1001 }, () => ACCOUNT) }, 'at most 1000 values for address, got 1001'],
    ['runGetMethod', { address: ACCOUNT, method: 'x', stack: [{ type: 'num', value: 1n }] }, 'a JSON array of {"type"'],
    ['runGetMethod', { address: ACCOUNT, method: 'x', stack: [{ type: 'tuple', value: '0x1' }] }, 'a JSON array of'],
    [
      'adjacentTransactions',
      {},
      'for hash, got nothing; hint: tonlake api adjacentTransactions --parameters explains it',
    ],
    ['accountStates', { address: undefined }, 'for address, got nothing'],
  ];
  test.each(cases)('%s %o', (name, given, text) => {
    expect(refusal(name, given)).toContain(text);
  });
});

describe('a value is sent as the server reads it', () => {
  const cases: readonly (readonly [EndpointName, Given, readonly (readonly [string, string])[]])[] = [
    [
      'blocks',
      { shard: -9223372036854775808n, limit: '5' },
      [
        ['shard', '8000000000000000'],
        ['limit', '5'],
      ],
    ],
    [
      'blocks',
      { shard: '-9223372036854775808', limit: 5 },
      [
        ['shard', '8000000000000000'],
        ['limit', '5'],
      ],
    ],
    [
      'blocks',
      { shard: '800000000000000', limit: 5 },
      [
        ['shard', '800000000000000'],
        ['limit', '5'],
      ],
    ],
    [
      'messages',
      { opcode: '-1', limit: 5 },
      [
        ['opcode', '0xffffffff'],
        ['limit', '5'],
      ],
    ],
    [
      'messages',
      { opcode: 10, limit: 5 },
      [
        ['opcode', '0x0000000a'],
        ['limit', '5'],
      ],
    ],
    [
      'messages',
      { source: null, only_externals: 'ON', limit: 5 },
      [
        ['source', 'null'],
        ['only_externals', 'true'],
        ['limit', '5'],
      ],
    ],
    [
      'walletInformation',
      { address: FRIENDLY, use_v2: '0' },
      [
        ['address', FRIENDLY],
        ['use_v2', 'false'],
      ],
    ],
  ];
  test.each(cases)('%s %o', (name, given, query) => {
    expect(plan(name, given)).toEqual(query);
  });
});

describe('parameters that do not go together are refused', () => {
  const cases: readonly (readonly [EndpointName, Given, string])[] = [
    [
      'vesting',
      {},
      'exactly one of contract_address, wallet_address, got none; hint: tonlake api vesting --parameters',
    ],
    ['vesting', { contract_address: ACCOUNT, wallet_address: OTHER }, 'got contract_address and wallet_address'],
    ['vesting', { contract_address: ACCOUNT, check_whitelist: true }, 'check_whitelist only with wallet_address'],
    ['dnsRecords', {}, 'exactly one of wallet, domain, got none'],
    ['multisigWallets', {}, 'at least one of address, wallet_address, got none'],
    ['multisigOrders', {}, 'at least one of address, multisig_address, got none'],
    ['pendingActions', {}, 'exactly one of account, ext_msg_hash, got none'],
    ['pendingTraces', {}, 'at least one of account, ext_msg_hash, got none'],
    ['transactionsByMessage', { limit: 5 }, 'at least one of msg_hash, body_hash, opcode, got none'],
    ['decode', {}, 'at least one of opcodes, bodies, got none'],
    ['traces', { trace_id: HASH, tx_hash: HASH }, 'at most one of account, trace_id, tx_hash, msg_hash'],
    ['actions', { mc_seqno: 5, account: ACCOUNT }, 'mc_seqno without account, got both'],
    ['actions', { trace_id: HASH, action_type: 'x' }, 'trace_id without action_type, got both'],
    ['actions', { action_id: HASH, start_lt: 5 }, 'action_id without start_lt, got both'],
    ['messages', { only_externals: true, start_lt: 1 }, 'only_externals without start_lt, got both'],
    ['jettonTransfers', { direction: 'in' }, 'direction only with owner_address or address, got it alone'],
    ['jettonBurns', { address: ACCOUNT, owner_address: OTHER }, 'at most one of owner_address, address'],
    ['nftItems', { index: 1 }, 'index only with collection_address'],
    [
      'nftItems',
      { collection_address: [ACCOUNT, OTHER] },
      'exactly one owner_address with several values of collection_address',
    ],
    [
      'jettonWallets',
      { jetton_address: [ACCOUNT, OTHER], owner_address: [ACCOUNT, OTHER] },
      'exactly one owner_address',
    ],
  ];
  test.each(cases)('%s %o', (name, given, text) => {
    expect(refusal(name, given)).toContain(text);
  });

  test('but a switch that is off goes with everything', () => {
    expect(plan('messages', { only_externals: false, start_lt: 1 })).toHaveLength(3);
    expect(plan('vesting', { contract_address: ACCOUNT, check_whitelist: false })).toHaveLength(3);
  });
});
