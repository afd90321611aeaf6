import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, createServer as createGate } from 'node:net';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { checkJob } from '../../src/jobs/check-job.ts';
import { parseJob } from '../../src/jobs/parse-job.ts';
import { moveOutputs, Publication } from '../../src/jobs/publish.ts';
import { lockJobs } from '../../src/jobs/run-history.ts';
import { openS3Store } from '../../src/objects/s3-store.ts';
import { runSchedule } from '../../src/resident/schedule.ts';
import type { ScheduleEvent } from '../../src/resident/warehouse-queue.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { freePort } from '../free-port.ts';
import { fakeActions, sleepingClock } from '../jobs/fakes.ts';
import {
  EXTENSIONS,
  environmentOf,
  HAS_BUCKETS,
  type S3Server,
  startS3,
  startS3Relay,
  useS3,
} from '../objects/s3-server.ts';
import { afterFile, freshFolder } from '../scratch.ts';

/** Midnight is before block 5000. */
const jobOf = (network: string, warehouse: string, out = 'out'): string => `network: ${network}
warehouse: ${warehouse}
pipelines: [transactions]
range: "4998:5001"
verify: true
marts: [transactions_daily]
checks: [block_tx_counts]
compact: true
reports:
  - {report: ./count.md, output: ${out}/report.md}
exports:
  - {table: transactions_daily, output: "${out}/{date}/daily.csv"}
`;

const REPORT = `---
title: Counts
doc: Rows of a table.
---


\`\`\`sql counts
select count(*)::int as n, count(distinct hash)::int as hashes from transactions
\`\`\`

\`\`\`table counts
title: Rows
\`\`\`
`;

describe.skipIf(!HAS_BUCKETS)(
  'jobs on a warehouse in an object store (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
  () => {
    let server: S3Server;
    let sandbox: Sandbox;
    let cwd: string;
    let env: Readonly<Record<string, string>>;

    beforeAll(async () => {
      server = await startS3();
      sandbox = await startSandbox();
      cwd = freshFolder();
      env = { ...server.env, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '', TONLAKE_STATE_DIR: join(cwd, 'state') };
      writeFileSync(join(cwd, 'count.md'), REPORT);
      writeFileSync(join(cwd, 'bucket.yaml'), jobOf(sandbox.url, 's3://lake/jobs', 's3://lake/out'));
      writeFileSync(join(cwd, 'folder.yaml'), jobOf(sandbox.url, 'w'));
    });

    afterAll(() => sandbox.close());

    const outputs = (folder: string): readonly string[] =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .sort()
        .map((path) => `${relative(folder, path)}: ${readFileSync(path, 'utf8')}`)
        .map((text) => text.replace(/warehouse [^ ]+,/, 'warehouse W,').replace(/Created [^ ]+ [^ ]+ UTC/, 'Created'));

    test('run each step, publish the same as those on a folder, and have records that every host sees', async () => {
      const inFolder = await tonlake(['job', 'run', 'folder.yaml', '--json'], { cwd, env });
      expect(inFolder).toMatchObject({ code: 0, stderr: '' });
      const wanted = outputs(join(cwd, 'out'));
      expect(wanted).toHaveLength(2);
      const TMPDIR = freshFolder();
      const inBucket = await tonlake(['job', 'run', 'bucket.yaml', '--json'], { cwd, env: { ...env, TMPDIR } });
      expect(inBucket).toMatchObject({ code: 0, stderr: '' });
      expect(readdirSync(TMPDIR)).toEqual([]);
      expect(outputs(join(server.folder, 'lake/out'))).toEqual(wanted);
      const stepsOf = (stdout: string): readonly string[] =>
        JSON.parse(stdout.trim().split('\n').at(-1) ?? '').steps.map(({ kind, name, status }: Record<string, string>) =>
          `${kind} ${name} ${status}`.replace(/folder|bucket/, 'job'),
        );
      expect(stepsOf(inBucket.stdout)).toEqual(stepsOf(inFolder.stdout));
      const elsewhere = { ...env, TONLAKE_STATE_DIR: freshFolder() };
      for (const host of [env, elsewhere]) {
        const listed = await tonlake(['job', 'list', 'bucket.yaml', '--json'], { cwd, env: host });
        expect(JSON.parse(listed.stdout).runs).toMatchObject([{ state: 'done' }]);
        const log = await tonlake(['job', 'log', 'bucket.yaml'], { cwd, env: host });
        expect(log.stdout).toMatch(/ attempt 1 of the run of [\s\S]* done\n$/);
        expect((await tonlake(['job', 'log', 'bucket.yaml', '--since', '1h'], { cwd, env: host })).code).toBe(0);
      }
      expect((await tonlake(['verify', '--warehouse', 's3://lake/jobs'], { cwd, env })).code).toBe(0);
    });

    test.each([0, 1, 2])('publish objects together: a kill after %i of two is completed by any host', async (count) => {
      useS3(server);
      const at = (name: string): string => join(server.folder, 'lake/kill', name);
      mkdirSync(at(''), { recursive: true });
      for (const name of ['a.csv', 'b.csv']) writeFileSync(at(name), 'old');
      writeFileSync(at('.a.csv.nightly-0000.new'), 'of another job');
      const leftover = new Publication('nightly', 's3://lake/w', '20260503T031500Z');
      await leftover.stage('s3://lake/kill/a.csv', (path) => writeFile(path, 'left by a kill'));
      const publication = new Publication('nightly', 's3://lake/w', '20260504T031500Z');
      for (const name of ['a.csv', 'b.csv'])
        await publication.stage(`s3://lake/kill/${name}`, (path) => writeFile(path, `new ${name}`));
      const read = (): readonly string[] => ['a.csv', 'b.csv'].map((name) => readFileSync(at(name), 'utf8'));
      expect(read()).toEqual(['old', 'old']);
      expect(await moveOutputs(publication.outputs.slice(0, count), false)).toEqual([]);
      expect(await moveOutputs(publication.outputs, true)).toEqual([]);
      expect(read()).toEqual(['new a.csv', 'new b.csv']);
      expect(readdirSync(at('')).sort()).toEqual(['.a.csv.nightly-0000.new', 'a.csv', 'b.csv']);
      await openS3Store('s3://lake/kill').put('b.csv', Buffer.from('of a reader'));
      expect(await moveOutputs(publication.outputs, true)).toEqual(['s3://lake/kill/b.csv']);
    });

    test('run on one host at a time: another host says who runs it, and ends with 0', async () => {
      useS3(server);
      writeFileSync(join(cwd, 'twin.yaml'), jobOf(sandbox.url, 's3://lake/twin'));
      const lease = await lockJobs('s3://lake/twin', 'run', realEffects, 'tonlake job run twin');
      const elsewhere = { ...env, TONLAKE_STATE_DIR: freshFolder() };
      const second = await tonlake(['job', 'run', 'twin.yaml'], { cwd, env: elsewhere });
      expect(second.stdout).toMatch(/^job twin: is run already by process \d+ of host \S+ since \S+Z /);
      expect(second.code).toBe(0);
      await lease.release();
      const third = await tonlake(['job', 'run', 'twin.yaml', '--json'], { cwd, env: elsewhere });
      expect(JSON.parse(third.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ state: 'done' });
    });

    test('are tried again when a run has lost its lease, and left to the schedule that has taken theirs', async () => {
      useS3(server);
      vi.stubEnv('TONLAKE_STATE_DIR', freshFolder());
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      onTestFinished(() => void vi.useRealTimers());
      onTestFinished(() => void vi.unstubAllEnvs());
      const objects = openS3Store('s3://lake/lost/_jobs');
      const take = async (name: string): Promise<void> => {
        await objects.put(name, Buffer.from('of another process'));
        vi.advanceTimersByTime(15_000);
      };
      const start = Date.parse('2026-05-04T12:00:00Z');
      const text = 'network: mainnet\npipelines: [blocks]\nrange: yesterday\nschedule: {cron: "1 12 * * *"}\n';
      const job = await checkJob(parseJob(text, 'lost.yaml'), { now: start, warehouse: 's3://lake/lost' });
      const { actions } = fakeActions({
        run: async (options) => {
          await take('run.lease');
          await vi.waitUntil(() => options.stop?.aborted);
          await objects.remove(['run.lease']);
          await take('schedule.lease');
          return { ...(await fakeActions().actions.run(options)), complete: false };
        },
      });
      const events: ScheduleEvent[] = [];
      const drain = new AbortController().signal;
      const effects = sleepingClock(start);
      const serving = runSchedule({
        jobs: [job],
        actions,
        effects,
        drain,
        drainMs: 0,
        onEvent: (event) => events.push(event),
      });
      await expect(serving).rejects.toMatchObject({ code: 'lease-lost' });
      expect(events.find(({ event }) => event === 'end')).toMatchObject({ record: { state: 'interrupted' } });
      expect(events.find(({ event }) => event === 'retry')).toMatchObject({ seconds: 300 });
    });

    test.each([
      ['is full before the first block', (): boolean => true],
      ['fills up during the export', (_key: string, before: number): boolean => before > 0],
    ])('tell those who want to know when the bucket %s', async (_, isFull) => {
      const relay = await startS3Relay(server);
      const port = new URL(relay.url).port;
      let files = 0;
      relay.fault = ({ method, path }) => {
        if (method !== 'PUT') return 'pass';
        if (path.includes('/tables/')) files++;
        return isFull(path, files) ? { status: 507, code: 'XMinioStorageFull' } : 'pass';
      };
      const name = `full-${port}`;
      const notify = `notify: [{command: [sh, -c, "cat > ${name}.json"], on: failure}]\n`;
      writeFileSync(join(cwd, `${name}.yaml`), jobOf(sandbox.url, `s3://lake/${name}`) + notify);
      const { code, stdout, stderr } = await tonlake(['job', 'run', `${name}.yaml`], {
        cwd,
        env: { ...env, ...relay.env },
      });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr.trim().split('\n').at(-1)).toMatch(
        /^error: .*the bucket is full .*; hint: .*make room in it, or raise its quota/,
      );
      const told = JSON.parse(readFileSync(join(cwd, `${name}.json`), 'utf8'));
      expect(told).toMatchObject({ state: 'failed', text: expect.stringContaining('the bucket is full') });
      relay.fault = undefined;
      const again = await tonlake(['job', 'run', `${name}.yaml`], { cwd, env });
      expect([again.code, again.stderr]).toEqual([0, expect.stringMatching(/publish 2 files: done/)]);
    });

    test('a schedule that starts while the store is down waits for it', async () => {
      const port = await freePort();
      const own = { ...env, ...environmentOf(`http://127.0.0.1:${port}`) };
      const text = `${jobOf(sandbox.url, 's3://lake/down')}schedule: {cron: "15 3 * * *"}\n`;
      writeFileSync(join(cwd, 'down.yaml'), text);
      const schedule = startTonlake(['job', 'schedule', 'down.yaml', '--json'], { cwd, env: own });
      await schedule.until('stdout', /"event":"unreachable"/);
      const gate = createGate((inbound) => {
        const outbound = connect(Number(new URL(server.url).port), '127.0.0.1');
        for (const socket of [inbound, outbound]) socket.on('error', () => undefined);
        inbound.pipe(outbound).pipe(inbound);
      });
      gate.listen(port, '127.0.0.1');
      afterFile(() => gate.close());
      await schedule.until('stdout', /"event":"watching","job":"down"/);
      schedule.kill('SIGTERM');
      expect((await schedule.finished).code).toBe(0);
    });
  },
);
