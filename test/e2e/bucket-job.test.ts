import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { EXTENSIONS, S3_PROGRAM, type S3Server, startS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';

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

    test('run each step, publish the same as those on a folder, and have their records on this machine', async () => {
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
      // The records lie on this machine.
      const listed = await tonlake(['job', 'list', 'bucket.yaml', '--json'], { cwd, env });
      expect(JSON.parse(listed.stdout).runs).toHaveLength(1);
      expect(readdirSync(join(cwd, 'state/jobs'))).toEqual(['lake~jobs']);
      expect(readdirSync(join(server.folder, 'lake/jobs')).filter((name) => name.includes('job'))).toEqual([]);
    });
  },
);
