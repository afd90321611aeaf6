import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/api/endpoint.ts';
import { endpointByPath, endpointNames, endpointOf } from '../../src/api/endpoints.ts';
import type { Parameter } from '../../src/api/parameter.ts';
import { formatError, UsageError } from '../../src/core/errors.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { readFacts } from '../facts.ts';

interface DescribedParameter {
  readonly name: string;
  readonly type: string;
  readonly array: boolean;
  readonly required: boolean;
  readonly min: number | string | null;
  readonly max: number | string | null;
  readonly enum: readonly string[] | null;
}

interface DescribedEndpoint {
  readonly category: string;
  readonly method: string;
  readonly path: string;
  readonly in_seed: boolean;
  readonly params: readonly DescribedParameter[];
  readonly response: {
    readonly shape: string;
    readonly envelope_keys: readonly string[];
    readonly rows_key: string | null;
    readonly record: string;
  };
  readonly errors: readonly string[];
}

/** Where a value is checked more closely than the description asks, because the server drops what it cannot read. */
const CLOSER: Readonly<Record<string, string>> = {
  'GET /metadata address': 'address',
  'GET /actions action_type': 'action-type',
  'GET /actions exclude_action_type': 'action-type',
  'GET /nft/items index': 'digits',
  'GET /decode opcodes': 'opcode',
  'GET /decode bodies': 'boc-or-hex',
  'POST /decode opcodes': 'opcode',
  'POST /decode bodies': 'boc-or-hex',
  'POST /estimateFee address': 'address',
  'POST /runGetMethod address': 'address',
};

const KINDS: Readonly<Record<string, string>> = {
  'address or null': 'address-or-null',
  string: 'text',
  'string (base64 BOC)': 'boc',
  'array of string': 'text',
  'array of {type: num|cell|slice, value}': 'stack',
};

const endpoints = endpointNames.map(endpointOf);
const keyOf = ({ method, path }: { readonly method: string; readonly path: string }): string => `${method} ${path}`;

describe('the endpoints', () => {
  test('are the 36 of the seed, /nft/sales and POST /decode, each with a function of its own', () => {
    expect(Object.fromEntries(endpointNames.map((name) => [name, keyOf(endpointOf(name))]))).toEqual({
      masterchainInfo: 'GET /masterchainInfo',
      blocks: 'GET /blocks',
      masterchainBlockShards: 'GET /masterchainBlockShards',
      masterchainBlockShardState: 'GET /masterchainBlockShardState',
      transactions: 'GET /transactions',
      transactionsByMasterchainBlock: 'GET /transactionsByMasterchainBlock',
      transactionsByMessage: 'GET /transactionsByMessage',
      adjacentTransactions: 'GET /adjacentTransactions',
      messages: 'GET /messages',
      pendingTransactions: 'GET /pendingTransactions',
      actions: 'GET /actions',
      traces: 'GET /traces',
      pendingActions: 'GET /pendingActions',
      pendingTraces: 'GET /pendingTraces',
      accountStates: 'GET /accountStates',
      walletStates: 'GET /walletStates',
      addressBook: 'GET /addressBook',
      metadata: 'GET /metadata',
      topAccountsByBalance: 'GET /topAccountsByBalance',
      addressInformation: 'GET /addressInformation',
      walletInformation: 'GET /walletInformation',
      dnsRecords: 'GET /dns/records',
      multisigWallets: 'GET /multisig/wallets',
      multisigOrders: 'GET /multisig/orders',
      vesting: 'GET /vesting',
      jettonMasters: 'GET /jetton/masters',
      jettonWallets: 'GET /jetton/wallets',
      jettonTransfers: 'GET /jetton/transfers',
      jettonBurns: 'GET /jetton/burns',
      nftCollections: 'GET /nft/collections',
      nftItems: 'GET /nft/items',
      nftTransfers: 'GET /nft/transfers',
      nftSales: 'GET /nft/sales',
      decode: 'GET /decode',
      decodeByPost: 'POST /decode',
      estimateFee: 'POST /estimateFee',
      runGetMethod: 'POST /runGetMethod',
      sendMessageToNetwork: 'POST /message',
    });
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
    expect(catching(() => endpointByPath('blocks', 'POST'))).toMatchObject({ code: 'wrong-method' });
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

describe('the description of the API', () => {
  const described = readFacts<readonly DescribedEndpoint[]>('endpoints').filter(
    ({ in_seed, path }) => in_seed || path === '/nft/sales' || path === '/decode',
  );

  test('has the same endpoints', () => {
    expect(endpoints.map(keyOf).sort()).toEqual(described.map(keyOf).sort());
  });

  test.each(described.map((endpoint) => [keyOf(endpoint), endpoint] as const))('says the same of %s', (key, theirs) => {
    const ours = endpoints.find((endpoint) => keyOf(endpoint) === key);
    expect(ours).toBeDefined();
    if (ours === undefined) return;
    expect(ours.group).toBe(theirs.category);
    expect(namesOf(ours)).toEqual(theirs.params.map(({ name }) => name).sort());
    for (const parameter of theirs.params) compareParameter(key, parameter, ours.parameters[parameter.name]);
    const { response } = theirs;
    expect(ours.answer.record).toBe(response.record);
    expect(ours.answer.kind).toBe({ object: 'rows', map: 'map', array: 'list', record: 'record' }[response.shape]);
    if (ours.answer.kind === 'rows') {
      expect([ours.answer.rows, ...ours.answer.maps]).toEqual(response.envelope_keys);
      expect(ours.answer.rows).toBe(response.rows_key);
    }
    const missing = theirs.errors.some((text) => /^404 (masterchain block|blocks not found)/.test(text))
      ? 'wait'
      : theirs.errors.some((text) => text.startsWith('404'))
        ? 'no rows'
        : undefined;
    expect(ours.missing).toBe(missing);
  });
});

function compareParameter(endpoint: string, theirs: DescribedParameter, ours: Parameter | undefined): void {
  const at = `${endpoint} ${theirs.name}`;
  expect(ours, at).toBeDefined();
  if (ours === undefined) return;
  expect(ours.many, at).toBe(theirs.array || theirs.type.startsWith('array of string'));
  expect(ours.required, at).toBe(theirs.required);
  expect(ours.words, at).toEqual(theirs.enum ?? []);
  if (theirs.enum !== null) expect(ours.kind, at).toBe('choice');
  else if (ours.kind === 'action-type' && theirs.name === 'supported_action_types') expect(theirs.type).toBe('string');
  else expect(ours.kind, at).toBe(CLOSER[at] ?? KINDS[theirs.type] ?? theirs.type);
  if (ours.kind === 'int32' || ours.kind === 'unix-seconds') {
    expect([ours.min ?? null, ours.max ?? null], at).toEqual([theirs.min, theirs.max]);
  } else if (theirs.name === 'opcodes' || theirs.name === 'bodies') {
    expect(ours.most, at).toBe(theirs.max);
  }
}

function namesOf(endpoint: Endpoint): readonly string[] {
  return Object.keys(endpoint.parameters).sort();
}

function catching(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('expected an error');
}
