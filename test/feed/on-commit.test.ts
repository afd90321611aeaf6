import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createGate } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DeliveryError } from '../../src/core/errors.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { alertFeed } from '../../src/feed/alert-feed.ts';
import { commitFeed } from '../../src/feed/commit-feed.ts';
import { Deliveries, type DeliveryEvent } from '../../src/feed/deliveries.ts';
import { loadAlerts } from '../../src/feed/load-alerts.ts';
import { parseDeliveryTarget, type Send, sendTo } from '../../src/jobs/delivery-target.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { followUntil, reaches, startGrowing } from '../follow/support.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

const numberOf = (line: string): number => JSON.parse(line).number;
/** A pause that only an end cuts short. */
const untilAborted = (_ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, at) => at + 1);

test('tonlake run sends a line for each commit, and those that were not taken with the next run', async () => {
  const folder = freshFolder();
  const sandbox = await startSandbox({ blocks: 20, activity: 0.3 });
  onTestFinished(() => sandbox.close());
  const place = ['--network', sandbox.url, '--warehouse', join(folder, 'w')];
  const append = 'process.stdin.pipe(fs.createWriteStream(process.argv[1], { flags: "a" }))';
  const target = ['--on-commit', `test ! -e ${folder}/closed && '${process.execPath}' -e '${append}' ${folder}/lines`];
  const runTo = (range: string, more: readonly string[] = []) => tonlake(['run', '--range', range, ...place, ...more]);
  const numbers = () => readFileSync(join(folder, 'lines'), 'utf8').trim().split('\n').map(numberOf);
  expect(await runTo('1:5', target)).toMatchObject({ code: 0 });
  expect(numbers()).toEqual([1, 2]);
  // Another command commits without telling.
  expect(await runTo('6:8')).toMatchObject({ code: 0 });
  writeFileSync(join(folder, 'closed'), '');
  expect(await runTo('1:8', target)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('complete: '),
    stderr: expect.stringMatching(/delivery to test: sh exited with 1; hint: rows are committed; the next command/),
  });
  rmSync(join(folder, 'closed'));
  expect(await runTo('1:9', target)).toMatchObject({ code: 0 });
  expect(numbers()).toEqual(upTo(6));
});

test.each(['w', 'w.duckdb'])(
  'following into %s goes on while a target is away, and tells it all later',
  async (name) => {
    const { effects, sandbox } = await startGrowing(400, { activity: 0.1 });
    const warehouse = join(freshFolder(), name);
    const lines: string[] = [];
    const alerts: string[] = [];
    const file = join(freshFolder(), 'each.yaml');
    writeFileSync(file, "select: select hash from new_transactions\nmessage: '{hash}'\nnotify: [{command: [told]}]\n");
    const registry = await loadRegistry();
    const exported = registry.toRun(['transactions']);
    const [alert] = await loadAlerts(file, { registry, exported, env: {} });
    const [told] = alert?.targets ?? [];
    if (alert === undefined || told === undefined) throw new Error('expected an alert');
    const away: Send = () => Promise.reject(new DeliveryError('away', { retryable: true }));
    const taking: Send = async ({ name: to }, body) => void (to === 'told' ? alerts : lines).push(body);
    for (const [send, block] of [
      [away, 1010],
      [taking, 1030],
    ] as const) {
      const events: DeliveryEvent[] = [];
      const feeds = [commitFeed(warehouse, parseDeliveryTarget('cat', {})), alertFeed(warehouse, alert, told)];
      const patient = { ...effects, sleep: untilAborted };
      const onEvent = (event: DeliveryEvent): void => void events.push(event);
      const deliveries = new Deliveries(feeds, { effects: patient, send, command: 'test', onEvent });
      const { report } = await followUntil(reaches(block), {
        ...{ pipelines: ['transactions'], network: sandbox.url, warehouse, effects, lagMs: 5000, from: '995:' },
        steps: [deliveries],
      });
      expect(report.complete).toBe(true);
      expect(events.length > 0).toBe(send === away);
    }
    const reader = await openWarehouse(warehouse);
    const last = (await reader.ledger()).at(-1)?.number ?? 0;
    const { rows } = await reader.query('SELECT hash FROM transactions');
    await reader.close();
    expect(last).toBeGreaterThan(6);
    expect(lines.map(numberOf)).toEqual(upTo(last));
    expect(alerts.map((body) => JSON.parse(body).text).sort()).toEqual(rows.map(([hash]) => hash).sort());
  },
);

test('a URL gets each line by POST, until it answers with success; its path is in no message', async () => {
  const bodies: string[] = [];
  const answers = [503, 302, 204];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      bodies.push(`${request.method} ${request.headers['content-type']} ${body}`);
      response.writeHead(answers[bodies.length - 1] ?? 500, { location: '/elsewhere' }).end();
    });
  });
  onTestFinished(() => void server.close());
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('NO_PROXY', '*');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = parseDeliveryTarget(`http://${host}/s3cret`, {});
  const { signal } = new AbortController();
  const attempt = () => sendTo(target, '{"number":1}\n', signal).then(() => 'taken', String);
  expect([await attempt(), await attempt(), await attempt()]).toEqual([
    `DeliveryError: delivery to ${host}: ${host} answered 503`,
    `DeliveryError: delivery to ${host}: ${host} answered 302`,
    'taken',
  ]);
  expect(new Set(bodies)).toEqual(new Set(['POST application/json {"number":1}\n']));
});

test.each([
  ['user:s3cr%40t@', `Basic ${Buffer.from('user:s3cr@t').toString('base64')}`],
  ['to%ken@', `Basic ${Buffer.from('to%ken:').toString('base64')}`],
  ['', undefined],
])('a URL that begins with http://%s is sent to with user and password', async (user, authorization) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    request.resume().on('end', () => response.writeHead(204).end());
  });
  onTestFinished(() => void server.close());
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('NO_PROXY', '*');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target = parseDeliveryTarget(`http://${user}127.0.0.1:${(server.address() as AddressInfo).port}/hook`, {});
  expect(target.name).not.toContain('@');
  await sendTo(target, '{"number":1}\n', new AbortController().signal);
  expect(asked).toEqual([authorization]);
});

test('a command that takes too long ends with all programs that it started', async () => {
  const tooLong = new AbortController();
  let disconnected = (): void => undefined;
  const isGone = new Promise<void>((resolve) => {
    disconnected = resolve;
  });
  const server = createGate((socket) => {
    socket.on('close', disconnected).on('error', disconnected).resume();
    tooLong.abort(new Error('enough'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const program = `'${process.execPath}' -e 'require("net").connect(${port}, "127.0.0.1").unref(); setInterval(() => {}, 1000)'`;
  const sending = sendTo(parseDeliveryTarget(`${program} | cat`, {}), 'line\n', tooLong.signal);
  await expect(sending).rejects.toThrow('sh took too long');
  await isGone;
  server.close();
});

test('a URL is reached through the proxy of the environment, as a source is', async () => {
  const asked: (string | undefined)[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url);
    request.resume().on('end', () => response.writeHead(204).end());
  });
  onTestFinished(() => void proxy.close());
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '');
  vi.stubEnv('http_proxy', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  await sendTo(
    parseDeliveryTarget('http://hooks.example/s3cret?to=me', {}),
    '{"number":1}\n',
    new AbortController().signal,
  );
  expect(asked).toEqual(['http://hooks.example/s3cret?to=me']);
});
