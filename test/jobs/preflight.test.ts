import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PutBucketPolicyCommand, S3Client } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freePort } from '../free-port.ts';
import { addUser, EXTENSIONS, HAS_BUCKETS, type S3Server, startS3WithUsers } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 400 });
});

/** A folder with a job file of these lines; its name. */
async function jobFile(...lines: readonly string[]) {
  const cwd = freshFolder();
  const head = [`network: ${sandbox.url}`, 'pipelines: [transactions]', 'marts: []', 'checks: []'];
  await writeFile(join(cwd, 'nightly.yaml'), [...head, ...lines].join('\n'));
  return cwd;
}

describe('a job whose outputs cannot be written', () => {
  async function unwritable() {
    const port = await freePort();
    const query = 'query: select 1 as n';
    const cwd = await jobFile(
      ...[`iceberg: {catalog: "http://127.0.0.1:${port}", namespace: ton}`],
      ...['range: "1:9"', 'warehouse: data/w', 'exports:', `  - {${query}, output: out/n.csv}`],
      ...[`  - {${query}, output: fine/n.csv}`, `  - {${query}, as: n, to: "postgres://u@127.0.0.1:${port}/lake"}`],
    );
    await writeFile(join(cwd, 'out'), 'a file where a folder should be');
    return { cwd, port };
  }

  test('ends before the first block is asked for, with a line for each thing that is missing', async () => {
    const { cwd, port } = await unwritable();
    sandbox.requests.reset();
    const { code, stderr } = await tonlake(['job', 'run', 'nightly.yaml'], { cwd });
    expect(code).toBe(1);
    expect(stderr).toMatch(/preflight write to out: failed, store: out: .*\n/);
    expect(stderr).toMatch(
      new RegExp(
        `preflight log in to the Iceberg catalog at http://127.0.0.1:${port}: failed, store: catalog .*ECONNREFUSED`,
      ),
    );
    expect(stderr).toMatch(
      new RegExp(`preflight log in to PostgreSQL at 127.0.0.1:${port}: failed, store: cannot connect to .*\n`),
    );
    expect(stderr).toMatch(
      /error: job nightly: cannot write to out; cannot log in to the Iceberg catalog at \S+; cannot log in to PostgreSQL at \S+; nothing was exported; hint: tonlake job run .*nightly.yaml --dry-run/,
    );
    expect(sandbox.requests.entries()).toEqual([]);
    expect(await readdir(cwd)).toEqual(expect.not.arrayContaining(['fine']));
  });

  test('says so in a dry run, which changes nothing', async () => {
    const { cwd } = await unwritable();
    const { code, stdout } = await tonlake(['job', 'run', 'nightly.yaml', '--dry-run'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^cannot write to out: store: .*\ncannot log in to the Iceberg catalog at .*\ncannot log in to PostgreSQL at .*: store: cannot connect .*\n/,
    );
    expect((await readdir(cwd)).sort()).toEqual(['nightly.yaml', 'out']);
    const fine = await jobFile('range: "1:9"', 'warehouse: data/w');
    const ready = await tonlake(['job', 'run', 'nightly.yaml', '--dry-run'], { cwd: fine });
    expect([ready.code, ready.stdout]).toEqual([
      0,
      expect.stringMatching(/\ntried: write to .*data\/w; stage files\n$/),
    ]);
    expect(await readdir(fine)).toEqual(['nightly.yaml']);
  });
});

describe.skipIf(!HAS_BUCKETS)('a user of a bucket with few rights (skipped without versitygw or extensions)', () => {
  interface Statement {
    readonly Action: readonly string[];
    readonly Resource: string;
  }
  let server: S3Server;
  let env: Readonly<Record<string, string>>;
  /** The policy of docs/lake.md. */
  const page = readFileSync(fileURLToPath(new URL('../../docs/lake.md', import.meta.url)), 'utf8');
  const [, text = ''] = /```json\n(\{\n {2}"Version"[\s\S]*?)```/.exec(page) ?? [];
  const policy: { readonly Statement: readonly Statement[] } = JSON.parse(text);

  beforeAll(async () => {
    server = await startS3WithUsers();
    env = { ...(await addUser(server, 'writer')), TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
  });

  /** Gives the user what the policy says, without some rights. */
  async function grant(...without: readonly string[]): Promise<void> {
    const statements = policy.Statement.map((each) => {
      const Action = each.Action.filter((action) => !without.includes(action));
      return { ...each, Action, Principal: { AWS: ['writer'] } };
    });
    const client = new S3Client({
      ...{ endpoint: server.url, region: 'us-east-1', forcePathStyle: true },
      credentials: { accessKeyId: 'lake', secretAccessKey: 'lakelake1' },
    });
    const Policy = JSON.stringify({ ...policy, Statement: statements });
    await client.send(new PutBucketPolicyCommand({ Bucket: 'lake', Policy }));
    client.destroy();
  }

  test('runs jobs and all commands of a writer with the rights that docs/lake.md names', async () => {
    await grant();
    const cwd = await jobFile('range: "1:9"', 'warehouse: s3://lake/mainnet', 'compact: true', 'iceberg: {}');
    const path = ['--warehouse', 's3://lake/mainnet'];
    for (const args of [
      ['job', 'run', 'nightly.yaml', '--dry-run'],
      ['job', 'run', 'nightly.yaml'],
      ['run', 'transactions', '--network', sandbox.url, '--range', '10:19', ...path],
      ['build', 'transactions_daily', ...path],
      ['compact', ...path],
      ['verify', ...path],
      ['forget', 'transactions', '--range', '1:3', '--yes', ...path],
      ['job', 'log', 'nightly.yaml'],
    ]) {
      const { code, stderr } = await tonlake(args, { cwd, env });
      expect([args.join(' '), code, stderr]).toEqual([args.join(' '), 0, expect.not.stringContaining('error')]);
    }
  });

  test.each([
    ['s3:DeleteObject', /cannot delete objects of s3:\/\/lake\/mainnet: store: .* refuses access/],
    ['s3:PutObject', /cannot put objects in s3:\/\/lake\/mainnet: store: .* refuses access/],
    ['s3:ListBucket', /cannot list s3:\/\/lake\/mainnet: store: .* refuses access/],
    ['s3:GetObject', /cannot read objects of s3:\/\/lake\/mainnet: store: .* refuses access/],
    ['s3:ListBucketMultipartUploads', /cannot list unfinished uploads of s3:\/\/lake\/mainnet: .* refuses access/],
  ])('learns that %s is missing before anything is exported', async (right, message) => {
    await grant(right);
    const cwd = await jobFile('range: "1:9"', 'warehouse: s3://lake/mainnet');
    const { code, stdout, stderr } = await tonlake(['job', 'run', 'nightly.yaml', '--dry-run'], { cwd, env });
    expect([code, stdout + stderr]).toEqual([1, expect.stringMatching(message)]);
  });
});
