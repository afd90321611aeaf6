import { field, fromRequest, lookup, pipeline, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'get_method_results',
  doc: 'What get-methods return now; by default, seqno of the accounts that received external messages.',
  endpoint: 'POST /runGetMethod',
  walk: lookup({
    keys: ['address', 'method', 'stack'],
    columns: [],
    query: `SELECT destination AS address, 'seqno' AS method, '[]' AS stack, max(tx_mc_block_seqno) AS seqno FROM messages
    WHERE direction = 'in' AND source IS NULL AND destination IS NOT NULL
      AND tx_mc_block_seqno BETWEEN $from AND $to GROUP BY destination`,
  }),
  needs: ['transactions'],
  tables: [
    table('get_method_results', {
      grain: 'one call of a get-method',
      key: ['address', 'method', 'arguments', '_read_at'],
      sort: ['address', 'method'],
      columns: {
        address: fromRequest('raw-address', 'address', 'contract'),
        method: fromRequest('text', 'method', 'name of the get-method'),
        arguments: fromRequest('json', 'stack', 'arguments, as a TVM stack'),
        gas_used: field('/gas_used', 'gas used').unit('gas'),
        exit_code: field('/exit_code', 'exit code; 0 and 1 mean success').unit('code'),
        stack: field('/stack', 'returned TVM stack'),
        ...reading(),
      },
    }),
  ],
});
