import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EndpointName, endpointNames, endpointOf } from '../../src/api/endpoints.ts';
import { parseWords } from '../../src/cli/commands/api-command.ts';
import { formatError, SourceError, UsageError } from '../../src/core/errors.ts';
import { ACCOUNT, HASH, recordedAnswer } from '../client/recorded.ts';
import { json, rejection, serve, serveSteps } from '../http/server.ts';
import { freshFolder } from '../scratch.ts';
import { printFetch } from './print-answer.ts';

const BOC = 'te6cckEBAQEAAgAAAEysuc0=';

/** The words that an endpoint needs at least. */
const WORDS: Partial<Record<EndpointName, readonly string[]>> = {
  masterchainBlockShards: ['seqno=5'],
  masterchainBlockShardState: ['seqno=5'],
  transactionsByMasterchainBlock: ['seqno=5'],
  transactionsByMessage: [`msg_hash=${HASH}`],
  adjacentTransactions: [`hash=${HASH}`],
  pendingTransactions: [`account=${ACCOUNT}`],
  pendingActions: [`account=${ACCOUNT}`],
  pendingTraces: [`account=${ACCOUNT}`],
  accountStates: [`address=${ACCOUNT}`],
  walletStates: [`address=${ACCOUNT}`],
  addressBook: [`address=${ACCOUNT}`],
  metadata: [`address=${ACCOUNT}`],
  addressInformation: [`address=${ACCOUNT}`],
  walletInformation: [`address=${ACCOUNT}`],
  dnsRecords: ['domain=a.ton'],
  multisigWallets: [`address=${ACCOUNT}`],
  multisigOrders: [`address=${ACCOUNT}`],
  vesting: [`contract_address=${ACCOUNT}`],
  nftSales: [`address=${ACCOUNT}`],
  decode: ['opcodes=0x1'],
  decodeByPost: ['opcodes=["0x1"]', '--post'],
  estimateFee: [`address=${ACCOUNT}`],
  runGetMethod: [`address=${ACCOUNT}`, 'method=get', 'stack=[]'],
  sendMessageToNetwork: [`boc=${BOC}`, '--yes-send'],
};

describe('tonlake api', () => {
  test.each(endpointNames)('calls %s by its path and prints the answer as it was sent', async (name) => {
    const { method, path } = endpointOf(name);
    const answer = recordedAnswer(endpointOf(name));
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    });
    const out = await printFetch([path.slice(1), ...(WORDS[name] ?? [])], server.baseUrl);
    expect(server.requests).toEqual([expect.stringMatching(new RegExp(`^${method} /api/v3${path}(\\?|$)`))]);
    expect(out).toBe(answer.endsWith('\n') ? answer : `${answer}\n`);
  });

  test('prints rows, one object a line', async () => {
    const server = await serveSteps(json(200, { jetton_masters: [{ address: 'a' }, { address: 'b' }] }));
    const out = await printFetch(['jetton/masters', 'limit=5', '--format', 'jsonl'], server.baseUrl);
    expect(server.requests).toEqual(['GET /api/v3/jetton/masters?limit=5']);
    expect(out).toBe('{"address":"a"}\n{"address":"b"}\n');
  });

  test('writes a file that is put in place whole', async () => {
    const folder = freshFolder();
    const path = join(folder, 'top.csv');
    const server = await serveSteps(json(200, [{ account: '0:AB', balance: '5' }]));
    expect(await printFetch(['topAccountsByBalance', '--format', 'csv', '--output', path], server.baseUrl)).toBe('');
    expect(await readFile(path, 'utf8')).toBe('account,balance,_extra\n0:AB,5,\n');
    const other = join(folder, 'top.parquet');
    await printFetch(['topAccountsByBalance', '--format', 'parquet', '--output', other], server.baseUrl);
    expect((await readFile(other)).subarray(0, 4).toString()).toBe('PAR1');
  });

  test.each([
    ['top.json', '[{"account":"0:AB","balance":"5"}]'],
    ['top.jsonl', '{"account":"0:AB","balance":"5"}\n'],
    ['top.csv', 'account,balance,_extra\n0:AB,5,\n'],
    ['top.parquet', 'PAR1'],
  ])('writes %s in the form that its ending says', async (name, begins) => {
    const path = join(freshFolder(), 'new', name);
    const server = await serveSteps(json(200, [{ account: '0:AB', balance: '5' }]));
    await printFetch(['topAccountsByBalance', '--output', path], server.baseUrl);
    expect((await readFile(path, 'latin1')).slice(0, begins.length)).toBe(begins);
  });

  test('does not wait for a block that is not indexed, unless told', async () => {
    const server = await serveSteps(json(404, { error: 'masterchain block 99 not found' }));
    const error = await rejection(printFetch(['transactions', 'mc_seqno=99'], server.baseUrl));
    expect(error).toBeInstanceOf(SourceError);
    expect(formatError(error)).toContain('masterchain block 99 not found');
    expect(server.requests).toHaveLength(1);
  });

  test('takes a 404 that means no rows for an answer', async () => {
    const server = await serveSteps(json(404, { error: 'emulated traces not found' }));
    const words = ['pendingTransactions', `account=${ACCOUNT}`];
    expect(await printFetch(words, server.baseUrl)).toBe('{"error":"emulated traces not found"}\n');
    expect(await printFetch([...words, '--format', 'jsonl'], server.baseUrl)).toBe('');
  });

  test('without an endpoint lists all of them', async () => {
    const out = await printFetch([]);
    const lines = out.split('\n').filter((line) => line.startsWith('  '));
    expect(lines).toHaveLength(endpointNames.length);
    expect(out).toContain(
      '\nJettons\n  jetton/masters                 GET   Jettons, in the order the index discovered them;',
    );
  });

  test('lists the parameters of an endpoint', async () => {
    const out = await printFetch(['vesting', '--parameters']);
    expect(out).toContain('GET /vesting\nVesting contracts.\n');
    expect(out).toContain('  contract_address   address, repeatable\n');
    expect(out).toContain('  limit              int32 from 1 to 1000; rows per page; default 100\n');
    expect(out).toContain('Rules\n  exactly one of contract_address, wallet_address\n');
    expect(await printFetch(['masterchainInfo', '--parameters'])).toContain('No parameters.');
  });

  test('sends a message only when told that it may', async () => {
    const server = await serveSteps(json(200, {}));
    const error = await rejection(printFetch(['message', `boc=${BOC}`], server.baseUrl));
    expect(error).toBeInstanceOf(UsageError);
    expect(formatError(error)).toContain('expected --yes-send');
    expect(server.requests).toEqual([]);
  });

  test.each([
    [['jeton/masters'], 'did you mean jetton/masters?'],
    [['jetton/masters', 'limitt=5'], 'did you mean limit?'],
    [['jetton/masters', 'limit'], 'expected key=value, got "limit"'],
    [['jetton/masters', 'limit='], 'for limit, got ""'],
    [['jetton/masters', 'limit=some'], 'for limit, got "some"'],
    [['jetton/masters', 'limit=5000'], 'from 1 to 1000 for limit, got "5000"'],
    [['transactions', 'mc_seqno=1.5'], 'for mc_seqno, got "1.5"'],
    [['accountStates', 'address=EQnobody'], 'for address, got "EQnobody"'],
    [['jetton/masters', 'limit=5', 'limit=6'], 'one value for limit, got a list of 2'],
    [['accountStates'], 'for address, got nothing'],
    [['blocks', '--format', 'parquet'], 'expected --output with --format parquet'],
    [['blocks', '--format', 'csv', '-o', 'b.json'], 'expected a path that fits the format csv, got b.json'],
    [['blocks', '-o', 'b.md'], 'expected a path that ends in .csv, .json, .jsonl, .ndjson, .parquet, got b.md'],
    [['runGetMethod', `address=${ACCOUNT}`, 'method=x', 'stack=[1'], 'expected JSON for stack, got "[1"'],
    [['blocks', '--post'], 'expected GET for blocks, got POST'],
  ])('refuses %o before a request', async (words, text) => {
    const server = await serveSteps(json(200, {}));
    const error = await rejection(printFetch(words, server.baseUrl));
    expect(error).toBeInstanceOf(UsageError);
    expect(formatError(error)).toContain(text);
    expect(server.requests).toEqual([]);
  });
});

describe('words', () => {
  test('that repeat a name are a list; a value may hold an equals sign', () => {
    const given = parseWords(endpointOf('transactions'), ['hash=a=', 'hash=b', 'limit=5']);
    expect(given).toEqual({ hash: ['a=', 'b'], limit: '5' });
  });

  test('of a POST take JSON where a field is a stack or a list', () => {
    const stack = [{ type: 'num', value: '0x1' }];
    const given = parseWords(endpointOf('runGetMethod'), [`stack=${JSON.stringify(stack)}`, 'method=[x]']);
    expect(given).toEqual({ stack, method: '[x]' });
    expect(parseWords(endpointOf('decodeByPost'), ['opcodes=["0x1"]', 'opcodes=0x2'])).toEqual({
      opcodes: ['0x1', '0x2'],
    });
  });
});
