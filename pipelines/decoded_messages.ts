import { fromRequest, json, lookup, pipeline, reading, table, textComment } from 'tonlake/pipeline';

export default pipeline({
  name: 'decoded_messages',
  doc: 'Message bodies decoded by the server.',
  endpoint: 'POST /decode',
  walk: lookup({
    keys: ['bodies'],
    columns: [],
    batch: 100,
    carried: ['body_hash'],
    query: `SELECT any_value(to_base64(body_boc)) AS bodies, body_hash FROM messages
    WHERE body_boc IS NOT NULL AND body_hash IS NOT NULL AND tx_mc_block_seqno BETWEEN $from AND $to GROUP BY body_hash`,
  }),
  needs: ['transactions'],
  tables: [
    table('decoded_messages', {
      grain: 'one body at one reading',
      rows: { kind: 'records', path: '/rows', shape: 'bodies' },
      key: ['body_hash', '_read_at'],
      columns: {
        body_hash: fromRequest('base64-hash', 'body_hash', 'hash of the body'),
        decoded: json('/value', 'body decoded by the server').decoration().nullable(),
        comment: textComment('/value', 'text comment in the body').decoration().nullable(),
        ...reading(),
      },
    }),
  ],
});
