import { field, fromRequest, lookup, pipeline, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'fee_estimates',
  doc: 'Fees that past external messages would cost if they were sent now.',
  endpoint: 'POST /estimateFee',
  parameters: { ignore_chksig: 'true' },
  walk: lookup({
    keys: ['address', 'body'],
    columns: [],
    carried: ['msg_hash'],
    query: `SELECT destination AS address, to_base64(body_boc) AS body, min(msg_hash) AS msg_hash FROM messages
    WHERE direction = 'in' AND source IS NULL AND destination IS NOT NULL AND body_boc IS NOT NULL
      AND tx_mc_block_seqno BETWEEN $from AND $to GROUP BY ALL`,
  }),
  needs: ['transactions'],
  tables: [
    table('fee_estimates', {
      grain: 'one message at one reading',
      key: ['msg_hash', '_read_at'],
      columns: {
        msg_hash: fromRequest('base64-hash', 'msg_hash', 'message'),
        address: fromRequest('raw-address', 'address', 'account that receives it'),
        in_fwd_fee: field('/source_fees/in_fwd_fee', 'import fee of the message').unit('nanoton'),
        storage_fee: field('/source_fees/storage_fee', 'storage fees due').unit('nanoton'),
        gas_fee: field('/source_fees/gas_fee', 'gas fee').unit('nanoton'),
        fwd_fee: field('/source_fees/fwd_fee', 'forward fees of the messages that it sends').unit('nanoton'),
        destination_fees: field('/destination_fees', 'the same fees for each recipient of those messages'),
        ...reading(),
      },
    }),
  ],
});
