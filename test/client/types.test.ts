import { describe, expectTypeOf, test } from 'vitest';
import type { AnswerOf, Client, ParametersOf } from '../../src/api/client/client-types.ts';
import { endpoint } from '../../src/api/endpoint.ts';
import type { ActionOf, RecordOf } from '../../src/api/records.ts';
import { isActionOf } from '../../src/api/records.ts';

describe('the types of calls', () => {
  test('know the names and values of parameters', () => {
    expectTypeOf<ParametersOf<'blocks'>['mc_seqno']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<ParametersOf<'blocks'>['sort']>().toEqualTypeOf<'asc' | 'desc' | undefined>();
    expectTypeOf<ParametersOf<'transactions'>['account']>().toEqualTypeOf<string | readonly string[] | undefined>();
    expectTypeOf<ParametersOf<'transactions'>['start_lt']>().toEqualTypeOf<bigint | number | string | undefined>();
    expectTypeOf<ParametersOf<'messages'>['source']>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<ParametersOf<'accountStates'>['address']>().toEqualTypeOf<string | readonly string[]>();
    expectTypeOf<ParametersOf<'masterchainInfo'>>().not.toHaveProperty('limit');
    expectTypeOf<ParametersOf<'blocks'>>().not.toHaveProperty('x_no_address_book');
    expectTypeOf<ParametersOf<'actions'>['x_no_metadata']>().toEqualTypeOf<boolean | undefined>();
  });

  test('refuse wrong names, wrong types and missing parameters', () => {
    const unused = (client: Client): unknown[] => [
      // @ts-expect-error a misspelt name
      client.blocks({ mc_seqn: 5 }),
      // @ts-expect-error text for a number
      client.blocks({ mc_seqno: '5' }),
      // @ts-expect-error a word that is none of the choices
      client.blocks({ sort: 'up' }),
      // @ts-expect-error a list where one value is taken
      client.actions({ account: ['0:1', '0:2'] }),
      // @ts-expect-error nothing where an address is needed
      client.accountStates(),
      // @ts-expect-error nothing where an address is needed
      client.accountStates({}),
      client.masterchainInfo(),
      client.accountStates({ address: ['a', 'b'], include_boc: false }, { signal: AbortSignal.abort() }),
    ];
    expectTypeOf(unused).toBeFunction();
  });
});

test('notes on parameters are for parameters of the endpoint', () => {
  const unused = (): unknown[] => [
    // @ts-expect-error a misspelt name
    endpoint('GET /vesting', { doc: '', parameters: { walet_address: 'owner' } }),
    // @ts-expect-error an unknown kind
    endpoint('GET /vesting', { doc: '', parameters: { wallet_address: { kind: 'adress' } } }),
    // @ts-expect-error an endpoint that the facts do not have
    endpoint('GET /vestings', { doc: '' }),
    // @ts-expect-error no sentence about it
    endpoint('GET /vesting', {}),
    endpoint('GET /vesting', { doc: '', parameters: { wallet_address: { note: 'owner', most: 5 } } }),
  ];
  expectTypeOf(unused).toBeFunction();
});

describe('the types of answers', () => {
  test('hold rows, maps, lists and records', () => {
    expectTypeOf<AnswerOf<'blocks'>['blocks']>().toEqualTypeOf<readonly RecordOf<'Block'>[]>();
    expectTypeOf<AnswerOf<'blocks'>>().not.toHaveProperty('address_book');
    expectTypeOf<AnswerOf<'jettonMasters'>['metadata']>().toEqualTypeOf<
      Readonly<Record<string, RecordOf<'AddressMetadata'>>>
    >();
    expectTypeOf<AnswerOf<'topAccountsByBalance'>>().toEqualTypeOf<readonly RecordOf<'AccountBalance'>[]>();
    expectTypeOf<AnswerOf<'addressBook'>>().toEqualTypeOf<Readonly<Record<string, RecordOf<'AddressBookRow'>>>>();
    expectTypeOf<AnswerOf<'masterchainInfo'>>().toEqualTypeOf<RecordOf<'MasterchainInfo'>>();
  });

  test('know null, missing, nested, listed and 64-bit fields', () => {
    expectTypeOf<RecordOf<'Block'>['tx_count']>().toEqualTypeOf<bigint>();
    expectTypeOf<RecordOf<'Transaction'>['lt']>().toEqualTypeOf<string>();
    expectTypeOf<RecordOf<'Transaction'>['now']>().toEqualTypeOf<number>();
    expectTypeOf<RecordOf<'Transaction'>['trace_id']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<RecordOf<'Message'>['source']>().toEqualTypeOf<string | null>();
    expectTypeOf<RecordOf<'Transaction'>['out_msgs'][number]['bounce']>().toEqualTypeOf<boolean | null>();
    expectTypeOf<RecordOf<'Block'>['prev_blocks']>().toEqualTypeOf<readonly RecordOf<'BlockId'>[] | null>();
    expectTypeOf<RecordOf<'TraceNode'>['children']>().toEqualTypeOf<readonly RecordOf<'TraceNode'>[] | null>();
    expectTypeOf<NonNullable<RecordOf<'Trace'>['transactions']>[string]>().toEqualTypeOf<RecordOf<'Transaction'>>();
    expectTypeOf<'frozen'>().toExtend<RecordOf<'Transaction'>['end_status']>();
  });

  test('tell the details of an action by its type', () => {
    expectTypeOf<ActionOf<'jetton_burn'>['details']>().toEqualTypeOf<RecordOf<'ActionDetailsJettonBurn'>>();
    const amount = (action: RecordOf<'Action'>): string | null =>
      isActionOf(action, 'jetton_burn') ? action.details.amount : null;
    expectTypeOf(amount).returns.toEqualTypeOf<string | null>();
  });
});
