import { describe, expect, test } from 'vitest';
import { endpointFacts } from '../../api/facts.ts';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { endpointByPath, endpointNames, endpointOf } from '../../src/api/endpoints.ts';
import { formatError, UsageError } from '../../src/core/errors.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { readFacts } from '../facts.ts';

interface DescribedEndpoint {
  readonly method: string;
  readonly path: string;
}

/** Endpoints whose function is not named after their path, each with the reason. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  // The path has two methods.
  'POST /decode': 'decodeByPost',
  // Nobody should send by mistake.
  'POST /message': 'sendMessageToNetwork',
};

/** Endpoints in the facts that no client calls: old names of others, and endpoints without a description. */
const NOT_CALLED = [
  ...['GET /events', 'GET /balanceChanges', 'GET /account', 'GET /wallet', 'GET /__testMethod'],
  'GET (server root)/healthcheck',
];

/** Where a value is checked more closely than the description asks, because the server drops what it cannot read. */
const CLOSER: Readonly<Record<string, string>> = {
  'GET /metadata address': 'address',
  'GET /actions action_type': 'action-type',
  'GET /actions exclude_action_type': 'action-type',
  'GET /actions supported_action_types': 'action-type',
  'GET /traces supported_action_types': 'action-type',
  'GET /pendingActions supported_action_types': 'action-type',
  'GET /pendingTraces supported_action_types': 'action-type',
  'GET /nft/items index': 'digits',
  'GET /decode opcodes': 'opcode',
  'GET /decode bodies': 'boc-or-hex',
  'POST /decode opcodes': 'opcode',
  'POST /decode bodies': 'boc-or-hex',
  'POST /estimateFee address': 'address',
  'POST /runGetMethod address': 'address',
};

const endpoints = endpointNames.map(endpointOf);
const keyOf = ({ method, path }: { readonly method: string; readonly path: string }): string => `${method} ${path}`;

describe('the endpoints', () => {
  test('have a function each, named after the path', () => {
    const named = endpoints.map((endpoint) => OTHER_NAMES[keyOf(endpoint)] ?? camelCase(endpoint.path));
    expect(endpointNames).toEqual(named);
    expect(endpoints.map(keyOf)).toEqual(expect.arrayContaining(Object.keys(OTHER_NAMES)));
  });

  test('are found by their path, with or without a slash in front', () => {
    expect(endpointByPath('jetton/masters')).toBe('jettonMasters');
    expect(endpointByPath('/jetton/masters')).toBe('jettonMasters');
    expect(endpointByPath('decode')).toBe('decode');
    expect(endpointByPath('decode', 'POST')).toBe('decodeByPost');
  });

  test('that are misspelt are refused with the nearest right one', () => {
    const failure = catching(() => endpointByPath('jetton/master'));
    expect(failure).toBeInstanceOf(UsageError);
    expect(formatError(failure)).toBe(
      'usage: expected an endpoint, got "jetton/master"; hint: did you mean jetton/masters? tonlake api lists them all',
    );
    expect(catching(() => endpointByPath('blocks', 'POST'))).toMatchObject({
      message: 'usage: expected GET for blocks, got POST',
    });
  });

  test('name only parameters of theirs in their rules', () => {
    for (const { parameters, rules } of endpoints) {
      for (const rule of rules) {
        const names = [
          ...('of' in rule ? rule.of : []),
          ...('name' in rule ? [rule.name] : []),
          ...('with' in rule ? [rule.with].flat() : []),
        ];
        expect(Object.keys(parameters)).toEqual(expect.arrayContaining(names));
      }
    }
  });

  test('that send to the network are named by no pipeline', async () => {
    const sending = endpoints.filter(({ sends }) => sends === true);
    expect(sending.map(keyOf)).toEqual(['POST /message']);
    for (const pipeline of (await loadRegistry()).pipelines) {
      expect(JSON.stringify({ ...pipeline, tables: [] })).not.toMatch(/\/message(?![a-z])/i);
    }
  });
});

describe('the facts about the API', () => {
  test('have the same endpoints, and some that no client calls', () => {
    const described = readFacts<readonly DescribedEndpoint[]>('endpoints').map(keyOf);
    expect([...endpoints.map(keyOf), ...NOT_CALLED].sort()).toEqual([...described].sort());
  });

  test('say what the parameters are: lists, words, bounds and what they compare', () => {
    expect(endpointOf('blocks').parameters).toMatchObject({
      workchain: { kind: 'int32', many: false, required: false, words: [] },
      start_utime: { kind: 'unix-seconds', min: 0, max: 4294967295, note: 'minimum gen_utime, inclusive' },
      end_lt: { kind: 'uint64', note: 'maximum start_lt, inclusive' },
      limit: { kind: 'int32', min: 1, max: 1000, sent: '100', note: 'rows per page; default 100' },
      sort: { kind: 'choice', words: ['asc', 'desc'], note: 'by gen_utime; default: no order' },
    });
    expect(endpointOf('transactions').parameters['sort']).toMatchObject({ note: 'default desc' });
    expect(endpointOf('accountStates').parameters['address']).toMatchObject({ many: true, required: true });
    expect(endpointOf('messages').parameters['source']).toMatchObject({ kind: 'address-or-null', many: false });
    expect(endpointOf('decodeByPost').parameters['bodies']).toMatchObject({ many: true, most: 1000 });
    expect(endpointOf('runGetMethod').parameters['stack']).toMatchObject({ kind: 'stack', many: false });
    expect(endpointOf('sendMessageToNetwork').parameters['boc']).toMatchObject({ kind: 'boc', required: true });
  });

  test('leave some parameters open that the client checks', () => {
    const closer = endpoints.flatMap((endpoint) =>
      Object.entries(endpoint.parameters).flatMap(([name, { kind }]) => {
        const params: Readonly<Record<string, { readonly kind: string }>> = factsOf(endpoint).params;
        return params[name]?.kind === kind ? [] : [[`${keyOf(endpoint)} ${name}`, kind]];
      }),
    );
    expect(Object.fromEntries(closer)).toEqual(CLOSER);
  });

  test('say what an answer is, and what a 404 means', () => {
    expect(endpointOf('jettonBurns').answer).toEqual({
      ...{ kind: 'rows', rows: 'jetton_burns', record: 'JettonBurn' },
      maps: ['address_book', 'metadata'],
    });
    expect(endpointOf('topAccountsByBalance').answer).toEqual({ kind: 'list', record: 'AccountBalance' });
    expect(endpointOf('metadata').answer).toEqual({ kind: 'map', record: 'AddressMetadata' });
    expect(endpointOf('walletInformation').answer).toEqual({ kind: 'record', record: 'V2WalletInformation' });
    const withMissing = (what: string) => endpointNames.filter((name) => endpointOf(name).missing === what);
    expect(withMissing('no rows')).toEqual(['adjacentTransactions', 'pendingTransactions']);
    expect(withMissing('wait')).toEqual([
      ...['masterchainBlockShards', 'masterchainBlockShardState', 'transactions', 'transactionsByMasterchainBlock'],
      ...['actions', 'traces'],
    ]);
  });
});

function factsOf({ method, path }: Endpoint): (typeof endpointFacts)[keyof typeof endpointFacts] {
  return Reflect.get(endpointFacts, `${method} ${path}`);
}

/** `/jetton/masters` as `jettonMasters`. */
function camelCase(path: string): string {
  return path.slice(1).replace(/\/(.)/g, (_, letter: string) => letter.toUpperCase());
}

function catching(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('expected an error');
}
