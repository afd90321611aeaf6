import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer as createGate } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { lockJobs } from '../../src/jobs/run-history.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { freePort } from '../free-port.ts';
import { EXTENSIONS, environmentOf, S3_PROGRAM, type S3Server, startS3, useS3 } from '../objects/s3-server.ts';
import { afterFile, freshFolder } from '../scratch.ts';

/** Midnight is before block 5000. */
const jobOf = (network: string, warehouse: string): string => `network: ${network}
warehouse: ${warehouse}
pipelines: [transactions]
range: "4998:5001"
verify: true
marts: [transactions_daily]
checks: [block_tx_counts]
compact: true
reports:
  - {report: ./count.md, output: out/report.md}
exports:
  - {table: transactions_daily, output: out/daily.csv}
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

const isMissing = S3_PROGRAM === undefined || EXTENSIONS === undefined;

describe.skipIf(isMissing)(
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
      for (const [name, warehouse] of Object.entries({ bucket: 's3://lake/jobs', folder: 'w' })) {
        writeFileSync(join(cwd, `${name}.yaml`), jobOf(sandbox.url, warehouse));
      }
    });

    afterAll(() => sandbox.close());

    const outputs = (): readonly string[] =>
      readdirSync(join(cwd, 'out'))
        .sort()
        .map((name) => `${name}: ${readFileSync(join(cwd, 'out', name), 'utf8')}`)
        .map((text) => text.replace(/warehouse [^ ]+,/, 'warehouse W,').replace(/Created [^ ]+ [^ ]+ UTC/, 'Created'));

    test('run each step, publish the same as those on a folder, and have records that every host sees', async () => {
      const inFolder = await tonlake(['job', 'run', 'folder.yaml', '--json'], { cwd, env });
      expect(inFolder).toMatchObject({ code: 0, stderr: '' });
      const wanted = outputs();
      expect(wanted).toHaveLength(2);
      const inBucket = await tonlake(['job', 'run', 'bucket.yaml', '--json'], { cwd, env });
      expect(inBucket).toMatchObject({ code: 0, stderr: '' });
      expect(outputs()).toEqual(wanted);
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
