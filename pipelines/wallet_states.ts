import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';
import { accountsAs } from './tables/account_keys.ts';

export default pipeline({
  name: 'wallet_states',
  doc: 'Latest account states parsed as wallets; other contracts have is_wallet false.',
  endpoint: 'GET /walletStates',
  walk: lookup({
    keys: ['address'],
    columns: ['address'],
    isEachListed: true,
    batch: 100,
    query: accountsAs('address'),
  }),
  needs: ['transactions'],
  tables: [
    table('wallet_states', {
      grain: 'one account at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: field('/address', 'account').bloomFilter(),
        is_wallet: field('/is_wallet', 'true if its code is that of a known wallet'),
        wallet_type: field('/wallet_type', 'wallet v1 r1 to wallet v5 r1'),
        seqno: field('/seqno', 'seqno of the next message'),
        wallet_id: field('/wallet_id', 'distinguishes wallets that share a key').unit('id'),
        balance: field('/balance', 'balance'),
        extra_currencies: field('/extra_currencies', 'extra currencies: amount by currency id'),
        is_signature_allowed: field('/is_signature_allowed', 'true if signed messages are accepted; wallet v5 only'),
        status: field('/status', 'uninit, frozen, active'),
        code_hash: field('/code_hash', 'hash of the code'),
        last_transaction_hash: field('/last_transaction_hash', 'hash of its last transaction'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        ...reading(),
      },
    }),
  ],
});
