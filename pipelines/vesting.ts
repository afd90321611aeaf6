import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';
import { accountsAs } from './tables/account_keys.ts';

export default pipeline({
  name: 'vesting',
  doc: 'Vesting contracts whose owner or sender is an account in the transactions.',
  endpoint: 'GET /vesting',
  walk: lookup({
    keys: ['wallet_address'],
    columns: ['owner_address', 'sender_address'],
    batch: 100,
    limit: 1000,
    query: accountsAs('wallet_address'),
  }),
  needs: ['transactions'],
  tables: [
    table('vesting', {
      grain: 'one vesting contract at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: field('/address', 'vesting contract').bloomFilter().required(),
        start_time: field('/start_time', 'start of the vesting'),
        total_duration: field('/total_duration', 'duration of the vesting').unit('seconds'),
        unlock_period: field('/unlock_period', 'time between two unlocks').unit('seconds'),
        cliff_duration: field('/cliff_duration', 'time before the first unlock').unit('seconds'),
        sender_address: field('/sender_address', 'sender of the tokens'),
        owner_address: field('/owner_address', 'owner of the vesting'),
        total_amount: field('/total_amount', 'total amount').unit('nanoton'),
        whitelist: field('/whitelist', 'addresses that locked TON may be sent to').nullable(),
        ...reading(),
      },
    }),
  ],
});
